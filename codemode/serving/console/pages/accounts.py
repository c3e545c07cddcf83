"""Accounts: a person's own connections at services, logging in there, and which one is used.

Everybody sees and changes their own alone. The addresses hold no secret: whoever opens one gets their own account.
"""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from typing import TYPE_CHECKING

from starlette.routing import Route

from codemode.errors import CallError, CodeModeError, ConfigurationError
from codemode.features.accounts.accounts import Accounts
from codemode.serving.console.forms import form_of
from codemode.serving.console.session import caller_of
from codemode.transports.oauth.client_document import CONSOLE_CALLBACK

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from codemode.service import CodeMode
    from codemode.serving.console.views import Console

#: The path to which issuers send browsers back, below the console.
_CALLBACK = CONSOLE_CALLBACK.removeprefix("/console")


def has_accounts(_: Request, service: CodeMode) -> bool:
    """Show the section where a source has connections."""
    part = service.runtime.features.find(Accounts)
    return part is not None and bool(part.connections.all())


def routes(console: Console) -> list[Route]:
    """Return the routes below `/accounts`."""
    pages = _Pages(console)
    return [
        Route("/accounts", pages.all),
        Route(_CALLBACK, pages.end, methods=["GET"]),
        Route("/accounts/{source}", pages.choose, methods=["POST"]),
        Route("/accounts/{source}/{connection}", pages.one, methods=["GET"]),
        Route("/accounts/{source}/{connection}/login", pages.log_in, methods=["POST"]),
        Route("/accounts/{source}/{connection}/logout", pages.log_out, methods=["POST"]),
    ]


class _Pages:
    def __init__(self, console: Console) -> None:
        self._console = console

    @property
    def _accounts(self) -> Accounts:
        return self._console.service.part(Accounts)

    async def all(self, request: Request) -> Response:
        """Show all connections of the person."""
        return await self._page(request)

    async def one(self, request: Request) -> Response:
        """Show one connection: where a call that waits for a login leads."""
        return await self._page(request, (request.path_params["source"], request.path_params["connection"]))

    async def log_in(self, request: Request) -> Response:
        """Lead to the issuer."""
        source, connection = request.path_params["source"], request.path_params["connection"]
        try:
            address = await self._accounts.log_in(source, connection, caller_of(request))
        except (CallError, ConfigurationError) as error:
            return await self._page(request, mistake=str(error))
        # a form may not lead to another site, a page that leads on may
        return self._console.page(request, "again.html", title="One moment", data={"target": address})

    async def end(self, request: Request) -> Response:
        """Take the issuer's answer."""
        try:
            source, _ = await self._accounts.logged_in(dict(request.query_params), caller_of(request))
        except (CallError, ConfigurationError) as error:
            return await self._page(request, mistake=str(error))
        return self._console.redirect(
            request, "accounts", message=f"You are logged in at {source}. What waited for it goes on."
        )

    async def log_out(self, request: Request) -> Response:
        """Delete the tokens of the person."""
        source, connection = request.path_params["source"], request.path_params["connection"]
        try:
            await self._accounts.log_out(source, connection, caller_of(request))
        except (CallError, ConfigurationError) as error:
            return await self._page(request, mistake=str(error))
        return self._console.redirect(request, "accounts", message=f"You are logged out at {source}.")

    async def choose(self, request: Request) -> Response:
        """Remember the connection that the person prefers."""
        source, connection = request.path_params["source"], (await form_of(request)).get("connection", "")
        try:
            await asyncio.to_thread(self._accounts.choose, source, connection, caller_of(request))
        except CodeModeError as error:
            return await self._page(request, mistake=str(error))
        return self._console.redirect(request, "accounts", message=f"{source} is used as {connection} from now on.")

    async def _page(self, request: Request, only: tuple[str, str] | None = None, mistake: str = "") -> Response:
        states = await asyncio.to_thread(self._accounts.states, caller_of(request))
        return self._console.page(
            request,
            "accounts/list.html",
            title="Accounts",
            data={"accounts": [asdict(one) for one in states if only in (None, (one.source, one.connection))]},
            status=409 if mistake else 200,
            mistake=mistake,
        )
