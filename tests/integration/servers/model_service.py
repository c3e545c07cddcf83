"""A model by script, on loopback: what OpenAI's service would answer, over chat completions and responses."""

from __future__ import annotations

import json
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    #: One turn: a tool to call with its arguments, or what it says at the end; `{result}` is the last tool's answer.
    Turn = tuple[str, dict[str, Any]] | str


class ModelService(ThreadingHTTPServer):
    """Gives the turns of a script in their order, and keeps what it was asked."""

    daemon_threads = True

    def __init__(self, script: Sequence[Turn]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.script = list(script)
        self.asked: list[dict[str, Any]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"


@contextmanager
def model_service(script: Sequence[Turn]) -> Iterator[ModelService]:
    """The service while the block runs."""
    with ModelService(script) as service:
        Thread(target=service.serve_forever, daemon=True).start()
        yield service
        service.shutdown()


class _Handler(BaseHTTPRequestHandler):
    server: ModelService

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append(asked)
        turn = self.server.script[len(self.server.asked) - 1]
        answer = _response(turn, asked) if self.path.endswith("/responses") else _completion(turn, asked)
        data = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def _completion(turn: Turn, asked: dict[str, Any]) -> dict[str, Any]:
    if isinstance(turn, str):
        results = [each["content"] for each in asked["messages"] if each["role"] == "tool"]
        message: dict[str, Any] = {"role": "assistant", "content": turn.replace("{result}", str(results[-1:]))}
    else:
        function = {"name": turn[0], "arguments": json.dumps(turn[1])}
        calls = [{"id": f"call_{len(asked['messages'])}", "type": "function", "function": function}]
        message = {"role": "assistant", "content": None, "tool_calls": calls}
    choice = {"index": 0, "message": message, "finish_reason": "stop" if isinstance(turn, str) else "tool_calls"}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    return {
        "id": "c", "object": "chat.completion", "created": 1, "model": "gpt-5", "choices": [choice], "usage": usage
    }  # fmt: skip


def _response(turn: Turn, asked: dict[str, Any]) -> dict[str, Any]:
    item: dict[str, Any]
    if isinstance(turn, str):
        results = [each["output"] for each in asked["input"] if each.get("type") == "function_call_output"]
        text = turn.replace("{result}", str(results[-1:]))
        content = [{"type": "output_text", "text": text, "annotations": []}]
        item = {"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": content}
    else:
        number = len(asked["input"])
        item = {"type": "function_call", "id": f"f_{number}", "call_id": f"call_{number}", "status": "completed"}
        item |= {"name": turn[0], "arguments": json.dumps(turn[1])}
    details = {"input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 0}}
    return {
        "id": "r", "object": "response", "created_at": 1, "model": "gpt-5", "status": "completed", "output": [item],
        "parallel_tool_calls": True, "tool_choice": "auto", "tools": [], "error": None, "incomplete_details": None,
        "instructions": None, "metadata": {}, "temperature": 1.0, "top_p": 1.0,
        "usage": {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2, **details},
    }  # fmt: skip
