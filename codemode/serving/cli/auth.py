"""`codemode auth login | status | logout`: the operator's logins to the services behind the sources."""

from __future__ import annotations

import asyncio
from contextlib import closing
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from codemode.errors import CodeModeError, ConfigurationError
from codemode.executions.journal.configured import store_of
from codemode.serving.cli.logins import LoginOptions, account_named, log_in, planned
from codemode.serving.cli.project_options import FOUND, AsJson, Config, configuration
from codemode.serving.cli.tables import print_table
from codemode.serving.output import terminal as show
from codemode.serving.output.exit_codes import errors_as_exit_codes
from codemode.settings import NoCredential, OAuth2Credential, Secrets
from codemode.transports.auth.token_store import token_store

if TYPE_CHECKING:
    from collections.abc import Iterator

    from codemode.settings import CredentialSettings, Settings, SourceSettings
    from codemode.transports.auth.token_store import TokenStore

app = typer.Typer(no_args_is_help=True, help="Log in to the services behind the sources.")
_NO_BROWSER = "Only print the address, or a code for another device."
Name = Annotated[str, typer.Argument(help="The namespace of the source, or SOURCE/CONNECTION.")]


@app.command("login")
def login(
    name: Name,
    no_browser: Annotated[bool, typer.Option("--no-browser", help=_NO_BROWSER)] = False,  # noqa: FBT002
    device: Annotated[bool, typer.Option("--device", help="Log in by a code on another device.")] = False,  # noqa: FBT002
    client_id: Annotated[str, typer.Option("--client-id", help="A client that you registered there.")] = "",
    client_secret_env: Annotated[
        str, typer.Option("--client-secret-env", help="Environment variable with that client's secret.")
    ] = "",
    scope: Annotated[list[str] | None, typer.Option("--scope", help="Also ask for this scope. Repeatable.")] = None,
    redirect_port: Annotated[
        int, typer.Option("--redirect-port", help="Port of http://127.0.0.1:PORT/callback.", min=0, max=65535)
    ] = 0,
    as_json: AsJson = False,  # noqa: FBT002
    config: Config = FOUND,
) -> None:
    """Log in with a browser or another device, and store the tokens. The server or the API document says how."""
    with errors_as_exit_codes(as_json=as_json):
        options = LoginOptions(not no_browser, device, client_id, client_secret_env, tuple(scope or ()), redirect_port)
        log_in(name, configuration(config), options)
        if as_json:
            show.print_json({"source": name, "logged_in": True})
        else:
            show.errors.print(f"logged in to {name}")


@app.command("logout")
def logout(name: Name, as_json: AsJson = False, config: Config = FOUND) -> None:  # noqa: FBT002
    """Delete the tokens of a source. If the issuer has a revocation endpoint, revoke them too."""
    with errors_as_exit_codes(as_json=as_json):
        settings = configuration(config)
        source, account = account_named(name, settings)
        with closing(store_of(settings, Secrets())) as store:
            kept = token_store(source, account, store)
            tokens = kept.read()
            revoked, problem = False, "the issuer names no revocation endpoint"
            if tokens is not None:
                from codemode.transports.oauth.login import log_out

                try:
                    own = settings.sources[source].with_connection(account.connection)
                    revoked = asyncio.run(log_out(planned(source, own, store, tokens, account=account), tokens))
                except CodeModeError as error:
                    problem = str(error)
            had = kept.remove()
            if as_json:
                show.print_json({"source": name, "had_tokens": had, "revoked": revoked})
            elif not had:
                show.errors.print(f"not logged in to {name}")
            else:
                result = "tokens revoked" if revoked else f"tokens deleted here but not revoked: {problem}"
                show.errors.print(show.plain(f"logged out of {name}: {result}"), soft_wrap=True)


@app.command("status")
def status(as_json: AsJson = False, config: Config = FOUND) -> None:  # noqa: FBT002
    """Show each credential of each source: where it comes from, and whether it is present."""
    with errors_as_exit_codes(as_json=as_json):
        settings = configuration(config)
        secrets = Secrets()
        with closing(store_of(settings, secrets)) as store:
            accounts = [(name, *account_named(name, settings)) for name in _names(settings)]
            rows = []
            for name, source, account in accounts:
                own, kept = (
                    settings.sources[source].with_connection(account.connection),
                    token_store(source, account, store),
                )
                rows += [{"source": name, **_state(name, one, secrets, kept)} for one in own.credentials]
                rows += [row] if (row := _stored(name, own, kept)) else []
            if as_json:
                show.print_json(rows)
            else:
                columns = ("source", "kind", "state", "detail")
                print_table(columns, [[row[name] for name in columns] for row in rows], may_be_cut=())
            raise typer.Exit(0 if all(row["state"] in ("present", "of the caller", "logged in") for row in rows) else 1)


def _names(settings: Settings) -> Iterator[str]:
    """Yield the names of the sources and of their connections, as `login` takes them."""
    for name, source in settings.sources.items():
        yield name
        yield from (f"{name}/{connection}" for connection in source.connections)


def _state(name: str, setting: CredentialSettings, secrets: Secrets, kept: TokenStore) -> dict[str, Any]:
    if isinstance(setting, NoCredential):
        return {"kind": "none", "state": "present", "detail": "the service needs no credentials"}
    if isinstance(setting, OAuth2Credential) and setting.is_login:
        return {"kind": f"oauth2 ({setting.flow})", **_login_state(name, kept)}
    references = [getattr(setting, field, None) for field in ("token", "password", "value")]
    if isinstance(setting, OAuth2Credential):
        references = [setting.client_secret, setting.refresh_token]
    given = [reference for reference in references if reference is not None]
    where = ", ".join(reference.where or "" for reference in given) or "no secret"
    if any(getattr(reference, "caller", None) for reference in given):
        return {"kind": setting.kind, "state": "of the caller", "detail": where}
    try:
        for reference in given:
            secrets.text(reference)
    except ConfigurationError as error:
        return {"kind": setting.kind, "state": "missing", "detail": str(error)}
    return {"kind": setting.kind, "state": "present", "detail": where}


def _stored(name: str, source: SourceSettings, kept: TokenStore) -> dict[str, Any] | None:
    """Return the login of a source without settings for one, None if nobody has logged in."""
    tokens = kept.read()
    if tokens is None or not tokens.server or not source.login_server:
        return None
    if tokens.server != source.login_server:
        detail = f"the login is for {tokens.server}; run: codemode auth login {name}"
        return {"source": name, "kind": "login", "state": "logged out", "detail": detail}
    return {"source": name, "kind": "login", **_login_state(name, kept)}


def _login_state(name: str, store: TokenStore) -> dict[str, str]:
    kept = store.read()
    if kept is None:
        return {"state": "logged out", "detail": f"run: codemode auth login {name}"}
    if kept.wanted:
        return {"state": "lacks scopes", "detail": f"{kept.wanted}; run: codemode auth login {name}"}
    until = f"{datetime.fromtimestamp(kept.expires_at, UTC):%Y-%m-%d %H:%M} UTC"
    if kept.refresh_token:
        return {"state": "logged in", "detail": f"access token valid until {until}, renewed automatically"}
    if kept.expires_at > datetime.now(UTC).timestamp():
        return {"state": "logged in", "detail": f"until {until}, not renewed automatically"}
    return {"state": "logged out", "detail": f"since {until}; run: codemode auth login {name}"}
