"""`codemode login` and `logout`: log in to a codemode server elsewhere, at the issuer of its tokens.

The token is for scripts and clients that call the server. It is stored for the user of this machine, not for a project.
"""

from __future__ import annotations

import asyncio
import re
import secrets
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

import typer

from codemode.errors import CodeModeError, ConfigurationError
from codemode.serving.cli.logins import LoginOptions, complete, secret_of
from codemode.serving.cli.project_options import AsJson  # noqa: TC001 -- typer reads it at run time
from codemode.serving.output import terminal as show
from codemode.serving.output.exit_codes import errors_as_exit_codes
from codemode.settings.folders import user_state
from codemode.shared.files import FolderStore
from codemode.transports.auth.token_store import TokenStore

if TYPE_CHECKING:
    from codemode.transports.auth.token_store import Tokens

login_app, logout_app = typer.Typer(), typer.Typer()

Url = Annotated[str, typer.Argument(help="The address of the server: https://codemode.example.com.")]


@login_app.command()
def login(
    url: Url,
    print_token: Annotated[  # noqa: FBT002
        bool, typer.Option("--print-token", help="Print a valid token of the present login, and log nobody in.")
    ] = False,
    no_browser: Annotated[  # noqa: FBT002
        bool, typer.Option("--no-browser", help="Only print the address, or a code for another device.")
    ] = False,
    device: Annotated[bool, typer.Option("--device", help="Log in by a code on another device.")] = False,  # noqa: FBT002
    client_id: Annotated[str, typer.Option("--client-id", help="A client that is registered at the issuer.")] = "",
    client_secret_env: Annotated[
        str, typer.Option("--client-secret-env", help="Environment variable with that client's secret.")
    ] = "",
    redirect_port: Annotated[
        int, typer.Option("--redirect-port", help="Port of http://127.0.0.1:PORT/callback.", min=0, max=65535)
    ] = 0,
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Log in to a codemode server elsewhere, at the issuer of its tokens, for scripts that call it."""
    with errors_as_exit_codes(as_json=as_json):
        server = _address(url)
        if print_token:
            sys.stdout.write(f"{asyncio.run(_token(server))}\n")
            return
        options = LoginOptions(not no_browser, device, client_id, client_secret_env, (), redirect_port)
        tokens = asyncio.run(_log_in(server, options))
        kept = _store(server)
        try:
            kept.write(replace(tokens, login=secrets.token_hex(16)))
        except OSError as error:
            message = f"cannot store the token in {user_state()}: {error.strerror}"
            raise ConfigurationError(message) from None
        if as_json:
            show.print_json({"server": server, "logged_in": True})
        else:
            show.errors.print(show.plain(f"logged in to {server}"))


@logout_app.command()
def logout(url: Url, as_json: AsJson = False) -> None:  # noqa: FBT002
    """Delete the token of a codemode server elsewhere. If its issuer has a revocation endpoint, revoke it too."""
    with errors_as_exit_codes(as_json=as_json):
        server = _address(url)
        kept = _store(server)
        tokens = kept.read()
        revoked = tokens is not None and asyncio.run(_revoked(server, kept, tokens))
        had = kept.remove()
        if as_json:
            show.print_json({"server": server, "had_token": had, "revoked": revoked})
        else:
            told = f"logged out of {server}" if had else f"not logged in to {server}"
            show.errors.print(show.plain(told + (", token revoked" if revoked else "")))


async def _log_in(server: str, options: LoginOptions) -> Tokens:
    from codemode.transports.oauth.discovery import discover_login
    from codemode.transports.oauth.registration import OwnClient

    secret = secret_of(options.client_secret_env)
    client = OwnClient(options.client_id, secret, options.scopes, options.redirect_port)
    found = await discover_login(f"{server}/mcp", server, client=client)
    return await complete(found, options, server)


async def _token(server: str) -> str:
    from codemode.transports.oauth.stored_login import StoredLogin

    kept = _store(server)
    stored = await asyncio.to_thread(kept.read)
    if stored is None:
        message = f"nobody is logged in to {server}; run: codemode login {server}"
        raise ConfigurationError(message)
    tokens = StoredLogin(kept, f"{server}/mcp", server)
    try:
        return (await tokens.credential()).value.removeprefix("Bearer ")
    except CodeModeError as error:
        message = f"{error}; log in again: codemode login {server}"
        raise ConfigurationError(message) from None
    finally:
        await tokens.aclose()


async def _revoked(server: str, kept: TokenStore, tokens: Tokens) -> bool:
    """Revoke tokens, as far as the issuer does. They are deleted here in any case."""
    from codemode.transports.oauth.login import Login, log_out
    from codemode.transports.oauth.stored_login import grant_in

    try:
        return await log_out(Login(server, grant_in(tokens, kept), revocation_url=tokens.revocation_url), tokens)
    except CodeModeError as error:
        show.errors.print(show.plain(f"not revoked: {error}"), soft_wrap=True)
        return False


def _address(url: str) -> str:
    """Return the address of a server without its last slash. Raises ConfigurationError."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query or parts.fragment:
        message = f"{url!r} is no address of a server: write https://HOST, or http://127.0.0.1:PORT"
        raise ConfigurationError(message)
    return url.rstrip("/").removesuffix("/mcp")


def _store(server: str) -> TokenStore:
    name = re.sub(r"[^a-z0-9.-]+", "_", server.lower().partition("://")[2])
    return TokenStore(
        FolderStore(user_state() / "servers").value("tokens", f"{urlsplit(server).scheme}_{name}"), server
    )
