"""A `/v1/embeddings` service on loopback, which can misbehave. Texts on the same topic have similar vectors."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

TOPICS = {"velomobile": 0, "car": 0, "vehicle": 0, "banana": 1, "fruit": 1, "river": 2}

#: An answer sent instead of embeddings: status, headers and body.
Misbehaviour = tuple[int, dict[str, str], bytes]


class EmbeddingsService:
    """The service. `asked` are the texts of each request, `keys` the Authorization headers. Answers wait for `gate`."""

    def __init__(self, size: int = 3) -> None:
        self.size = size
        self.asked: list[list[str]] = []
        self.keys: list[str] = []
        self.gate = threading.Event()
        self.gate.set()
        self.change = threading.Condition()
        #: Called with the number of the request (from 1) and its texts. Returns a misbehaviour, or None to answer.
        self.misbehave: Callable[[int, Sequence[str]], Misbehaviour | None] = lambda _number, _texts: None
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self.base_url = f"http://127.0.0.1:{self._server.server_port}/v1"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    def wait_for_requests(self, count: int, timeout_s: float = 100) -> bool:
        """Wait for `count` requests. Return whether they arrived within the time."""
        with self.change:
            return self.change.wait_for(lambda: len(self.asked) >= count, timeout_s)

    def close(self) -> None:
        """Stop the service."""
        self.gate.set()
        if self._thread.is_alive():
            self._server.shutdown()
            self._server.server_close()
            self._thread.join()

    def vector(self, text: str) -> list[float]:
        """Return the embedding of a text."""
        numbers = [0.01] * self.size
        for word, topic in TOPICS.items():
            numbers[topic] += word in text.lower()
        return numbers

    def _answer(self, texts: list[str], key: str) -> Misbehaviour:
        with self.change:
            self.asked.append(texts)
            self.keys.append(key)
            number = len(self.asked)
            self.change.notify_all()
        self.gate.wait(100)
        bad = self.misbehave(number, texts)
        if bad is not None:
            return bad
        data: list[dict[str, Any]] = [
            {"object": "embedding", "index": place, "embedding": self.vector(text)} for place, text in enumerate(texts)
        ]
        usage = {"prompt_tokens": 0, "total_tokens": 0}
        content = {"object": "list", "model": "topics", "data": data[::-1], "usage": usage}  # `index` gives the order
        return 200, {}, json.dumps(content).encode()

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        service = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                content = self.rfile.read(int(self.headers["Content-Length"]))
                if self.path != "/v1/embeddings":
                    answer: Misbehaviour = (404, {}, b"{}")
                else:
                    answer = service._answer(json.loads(content)["input"], self.headers.get("Authorization", ""))
                status, headers, body = answer
                self.send_response(status)
                for name, value in (
                    {"Content-Type": "application/json", "Content-Length": str(len(body))} | headers
                ).items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 -- the name it has there
                """Log nothing."""

        return Handler
