"""`codemode auth login | status | logout`: the operator's logins to the services behind the sources."""

from __future__ import annotations

import asyncio
import webbrowser
from contextlib import closing
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from codemode.errors import CodeModeError, ConfigurationError
from codemode.executions.journal.configured import store_of
from codemode.serving.cli.project_options import FOUND, AsJson, Config, configuration
from codemode.serving.cli.tables import print_table
from codemode.serving.output import terminal as show
from codemode.serving.output.exit_codes import errors_as_exit_codes
from codemode.settings import NoCredential, OAuth2Credential, Secrets
from codemode.transports.auth.token_store import TokenStore

if TYPE_CHECKING:
    from codemode.settings import CredentialSettings, Settings, SourceSettings
    from codemode.shared.values import ValueStore
    from codemode.transports.oauth.login import Login

app = typer.Typer(no_args_is_help=True, help="Log in to the services behind the sources.")
Name = Annotated[str, typer.Argument(help="The namespace of the source.")]


@app.command("login")
def login(
    name: Name,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Only print the address.")] = False,  # noqa: FBT002
    as_json: AsJson = False,  # noqa: FBT002
    config: Config = FOUND,
) -> None:
    """Log in with a browser or another device, and store the tokens."""
    with errors_as_exit_codes(as_json=as_json):
        from codemode.transports.oauth.login import log_in_by_browser, log_in_by_device

        settings = configuration(config)
        setting = _login_of(name, settings)
        with closing(store_of(settings, Secrets())) as store:
            planned = _planned(name, settings.sources[name], setting, store)

            def tell(address: str) -> None:
                show.errors.print(show.plain(f"open {address}"), soft_wrap=True)
                if not no_browser and setting.flow == "authorization_code":
                    webbrowser.open(address)

            log_in = log_in_by_browser if setting.flow == "authorization_code" else log_in_by_device
            tokens = asyncio.run(log_in(planned, tell))
            value = store.value("tokens", name)
            try:
                TokenStore(value, name).write(tokens)
            except OSError as error:
                message = f"cannot store the tokens in {value.title}: {error.strerror}"
                raise ConfigurationError(message) from None
            if as_json:
                show.print_json({"source": name, "logged_in": True})
            else:
                show.errors.print(f"logged in to {name}")


@app.command("logout")
def logout(name: Name, as_json: AsJson = False, config: Config = FOUND) -> None:  # noqa: FBT002
    """Delete the tokens of a source. If the issuer has a revocation endpoint, revoke them too."""
    with errors_as_exit_codes(as_json=as_json):
        settings = configuration(config)
        setting = _login_of(name, settings)
        with closing(store_of(settings, Secrets())) as store:
            planned = _planned(name, settings.sources[name], setting, store)
            kept = TokenStore(store.value("tokens", name), name)
            tokens = kept.read()
            revoked, problem = False, "the issuer names no revocation endpoint"
            if tokens is not None:
                from codemode.transports.oauth.login import log_out

                try:
                    revoked = asyncio.run(log_out(planned, tokens))
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
            rows = [
                {"source": name, **_state(name, one, secrets, store)}
                for name, source in settings.sources.items()
                for one in source.credentials
            ]
            if as_json:
                show.print_json(rows)
            else:
                columns = ("source", "kind", "state", "detail")
                print_table(columns, [[row[name] for name in columns] for row in rows], may_be_cut=())
            raise typer.Exit(0 if all(row["state"] in ("present", "of the caller", "logged in") for row in rows) else 1)


def _login_of(name: str, settings: Settings) -> OAuth2Credential:
    """Return the one credential of a source that needs a login. Raises ConfigurationError."""
    source = settings.sources.get(name)
    if source is None:
        message = f"there is no source {name!r}; there are: {', '.join(settings.sources)}"
        raise ConfigurationError(message)
    found = [one for one in source.credentials if isinstance(one, OAuth2Credential) and one.is_login]
    if len(found) != 1:
        message = (
            f"sources.{name}.credentials: a login needs exactly one credential of kind oauth2 with "
            f"`flow: authorization_code` or `flow: device_code`; found {len(found)}"
        )
        raise ConfigurationError(message)
    return found[0]


def _planned(name: str, source: SourceSettings, setting: OAuth2Credential, store: ValueStore) -> Login:
    from codemode.sources.authentication import grant_of
    from codemode.transports.oauth.login import Login

    return Login(
        source=name,
        grant=grant_of(name, setting, Secrets(), store),
        authorization_url=setting.authorization_url,
        device_url=setting.device_url,
        redirect_port=setting.redirect_port,
        ca_file=None if source.ca_file is None else str(source.ca_file),
    )


def _state(name: str, setting: CredentialSettings, secrets: Secrets, store: ValueStore) -> dict[str, Any]:
    if isinstance(setting, NoCredential):
        return {"kind": "none", "state": "present", "detail": "the service needs no credentials"}
    if isinstance(setting, OAuth2Credential) and setting.is_login:
        return {"kind": f"oauth2 ({setting.flow})", **_login_state(name, store)}
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


def _login_state(name: str, store: ValueStore) -> dict[str, str]:
    kept = TokenStore(store.value("tokens", name), name).read()
    if kept is None:
        return {"state": "logged out", "detail": f"run: codemode auth login {name}"}
    until = f"{datetime.fromtimestamp(kept.expires_at, UTC):%Y-%m-%d %H:%M} UTC"
    if kept.refresh_token:
        return {"state": "logged in", "detail": f"access token valid until {until}, renewed automatically"}
    if kept.expires_at > datetime.now(UTC).timestamp():
        return {"state": "logged in", "detail": f"until {until}, not renewed automatically"}
    return {"state": "logged out", "detail": f"since {until}; run: codemode auth login {name}"}
