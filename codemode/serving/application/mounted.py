"""`app()`: the HTTP API and the MCP server, to run by any ASGI server or to mount in one's own application."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from fastapi import FastAPI

from codemode.errors import ConfigurationError
from codemode.service import CodeMode
from codemode.serving.application.app import create_app
from codemode.serving.auth.callers import Callers
from codemode.serving.web.problems import problem
from codemode.settings import DEFAULT_FILE, Settings, load_settings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from starlette.types import ASGIApp, Receive, Scope, Send


def app(settings: Settings | str | Path = DEFAULT_FILE, *, allow_anybody: bool = False) -> MountedApp:
    """Return an ASGI application with the routes of `codemode serve`.

        server = codemode.app("codemode.yaml")          # uvicorn module:server

        api = FastAPI(lifespan=server.lifespan)         # or within an application of one's own
        api.mount("/codemode", server)

    A mounted application receives no lifespan events, so the outer one must use `server.lifespan`, or enter it in its
    own. Raises ConfigurationError for an invalid configuration, and for one without keys unless
    `allow_anybody`. Without keys only requests to a loopback host are answered, because nothing else limits who calls.
    """
    loaded = settings if isinstance(settings, Settings) else load_settings(settings)
    service = CodeMode.from_settings(loaded)
    callers = Callers.of(loaded, service.store)
    if callers.is_open and not allow_anybody:
        service.store.close()
        message = (
            "app() needs a key, because anybody who can reach the application could use it: create one with "
            "`codemode keys create`, configure one (server.keys), or pass allow_anybody=True"
        )
        raise ConfigurationError(message)
    return MountedApp(service, callers)


class MountedApp:
    """An ASGI application around a service, which `lifespan` opens and closes.

    `service` is the CodeMode behind it, for the application's own code.
    """

    def __init__(self, service: CodeMode, callers: Callers) -> None:
        self.service = service
        self._callers = callers
        self._inner: FastAPI | None = None
        self._own: ASGIApp = FastAPI(lifespan=self.lifespan)

    @asynccontextmanager
    async def lifespan(self, _: Any = None) -> AsyncIterator[None]:
        """Read the sources and start the sandbox; close both at the end. Pass it as `FastAPI(lifespan=…)`."""
        async with self.service:
            await self.service.start_sandbox()
            inner = create_app(self.service, self._callers)
            if self.service.settings.keeps_journal:
                await self.service.executions.serve()
            async with inner.router.lifespan_context(inner):
                self._inner = inner
                try:
                    yield
                finally:
                    self._inner = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; 503 before the start and after the end."""
        if scope["type"] == "lifespan":
            await self._own(scope, receive, send)
        elif self._inner is not None:
            # The middleware decides by the path, which begins with the prefix of the mount here.
            prefix = scope.get("root_path", "")
            inside = {"path": scope["path"].removeprefix(prefix) or "/", "root_path": "", "app_root_path": prefix}
            await self._inner({**scope, **inside}, receive, send)
        elif scope["type"] == "http":
            hint = "codemode has not started: pass `lifespan=server.lifespan` to the outer application"
            await problem(503, "not_ready", hint)(scope, receive, send)
