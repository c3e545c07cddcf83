"""`SyncCodeMode`: the service without `await`, for scripts and notebooks."""

from __future__ import annotations

import asyncio
import threading
from concurrent.futures import CancelledError
from typing import TYPE_CHECKING, Any, Self, TypeVar

if TYPE_CHECKING:
    from collections.abc import Coroutine, Mapping, Sequence
    from types import TracebackType

    from codemode.executions.types.outcome import ExecutionOutcome
    from codemode.search.result import SearchAnswer
    from codemode.service import CodeMode
    from codemode.transports.content import Content

T = TypeVar("T")


class SyncCodeMode:
    """A `CodeMode` whose methods block. It works beside a running event loop, as in a notebook.

        with SyncCodeMode(CodeMode.from_openapi("gym.json", base_url="http://127.0.0.1:8000")) as cm:
            outcome = cm.execute("gym.clients.get_clients_list(name='John')")

    The service runs in an event loop in a thread of its own. Without `with`, call `start` first and `close` last. All
    methods may be called from any thread.
    """

    def __init__(self, service: CodeMode) -> None:
        self.service = service
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="codemode", daemon=True)

    def __repr__(self) -> str:
        return f"<Sync{repr(self.service).removeprefix('<')}"

    def start(self) -> Self:
        """Read the sources. Raises what entering `CodeMode` raises."""
        self._thread.start()
        try:
            self._run(self.service.start())
        except BaseException:
            self._stop()
            raise
        return self

    def close(self) -> None:
        """Close the service and end its thread. A second call does nothing."""
        if self._loop.is_closed() or not self._thread.is_alive():
            return
        try:
            self._run(self.service.aclose())
        finally:
            self._stop()

    def search(self, queries: str | Sequence[str], **arguments: Any) -> SearchAnswer:
        """Find tools: see `CodeMode.search`."""
        return self._run(self.service.search(queries, **arguments))

    def describe(self, name: str = "") -> str:
        """Describe a namespace, a group or a tool: see `CodeMode.describe`."""
        return self._run(self.service.describe(name))

    def execute(self, code: str, **arguments: Any) -> ExecutionOutcome:
        """Run a program: see `CodeMode.execute`. An interrupt (Ctrl-C) cancels the program."""
        return self._run(self.service.execute(code, **arguments))

    def content(self, reference: str | Mapping[str, Any]) -> Content:
        """Return an image or file: see `CodeMode.content`."""
        return self._run(self.service.content(reference))

    def keep_content(self, data: bytes, media_type: str = "", name: str = "") -> dict[str, Any]:
        """Store a file and return its reference: see `CodeMode.keep_content`."""
        return self._run(self.service.keep_content(data, media_type, name))

    def definitions(self) -> list[dict[str, Any]]:
        """Return the function definitions for a model: see `CodeMode.definitions`."""
        return self._run(self.service.definitions())

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        if not self._thread.is_alive():
            work.close()
            raise RuntimeError("the service is not running: call start(), or use it as `with SyncCodeMode(…) as cm:`")
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except KeyboardInterrupt:
            future.cancel()
            raise
        except CancelledError:
            raise RuntimeError("the service was closed while the call was running") from None

    def _stop(self) -> None:
        self._run(self._loop.shutdown_default_executor())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
