"""Response headers of the console: pages load their own files only, run no inline script and are embedded nowhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.datastructures import MutableHeaders

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

#: CSP Level 3. Text written by models and services is on every page; `script-src` without `'unsafe-eval'` also keeps
#: htmx from evaluating attributes.
POLICY = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self' data:",
    "connect-src": "'self'",
    "form-action": "'self'",
    "frame-ancestors": "'none'",
    "base-uri": "'none'",
}

_HEADERS = {
    "Content-Security-Policy": "; ".join(f"{name} {value}" for name, value in POLICY.items()),
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",  # with `no-referrer`, browsers send `Origin: null` with our own forms
}


class ConsoleHeaders:
    """ASGI middleware that adds the headers which a response does not set itself. Pages are never cached."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
                is_file = "etag" in headers  # files are revalidated
                headers.setdefault("Cache-Control", "no-cache" if is_file else "no-store")
            await send(message)

        await self._app(scope, receive, send_with_headers)
