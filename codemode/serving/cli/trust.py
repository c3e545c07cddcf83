"""`codemode trust`: let a configuration file that was found in a folder do what it says."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from codemode.errors import ConfigurationError
from codemode.serving.cli import terminal as show
from codemode.serving.cli.surface import FOUND, AsJson, Config, errors_as_exit_codes
from codemode.serving.cli.typed import discard_typed
from codemode.settings import ConfigurationUntrusted, distrust, load_settings, trust

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

app = typer.Typer()

_ASKED = "Trust it as it is now?"


@app.command("trust")
def command(
    yes: Annotated[bool, typer.Option("--yes", help="Trust without asking.")] = False,  # noqa: FBT002
    remove: Annotated[bool, typer.Option("--remove", help="Trust the file no longer.")] = False,  # noqa: FBT002
    as_json: AsJson = False,  # noqa: FBT002
    config: Config = FOUND,
) -> None:
    """Show what the configuration file of this folder would run, read and send, and trust it as it is.

    A file that changes is asked about again. A file named by --config needs no trust.
    """
    with errors_as_exit_codes(as_json=as_json):
        if remove:
            _report(str(config), "was_trusted" if distrust(config) else "was_not_trusted", as_json=as_json)
            return
        try:
            load_settings(config, is_named=False)
        except ConfigurationUntrusted as untrusted:
            if not as_json:
                show.errors.print(show.plain(untrusted.question), soft_wrap=True)
            if not yes and not _has_terminal():
                message = f"nobody can be asked here: `codemode trust --yes` trusts {config} without a question"
                raise ConfigurationError(message) from None
            if not yes and not typer.confirm(_ASKED, err=True):
                raise typer.Exit(1) from None
            trust(untrusted.file, untrusted.digest)
            _report(str(config), "trusted", as_json=as_json)
        else:
            _report(str(config), "needs_no_trust_now", as_json=as_json)


def ask_for_trust(untrusted: ConfigurationUntrusted) -> bool:
    """Ask at a terminal whether to trust a file, and record a yes. Return False if nobody can be asked, or for a no.

    Raises ConfigurationError.
    """
    if not _has_terminal():
        return False
    discard_typed()
    show.errors.print(show.plain(untrusted.question, style="yellow"), soft_wrap=True)
    if not typer.confirm(_ASKED, err=True):
        return False
    trust(untrusted.file, untrusted.digest)
    return True


@contextmanager
def edited(config: Path, *, by_user: bool = True) -> Iterator[None]:
    """Keep the trust in a file that a command changes in the block, as its user asked for.

    A new file is trusted, too, unless `by_user` is false because its content came from files of the folder.
    """
    was_trusted = by_user if not config.exists() else _untrusted(config) is None
    yield
    untrusted = _untrusted(config) if was_trusted else None
    if untrusted is not None:
        trust(untrusted.file, untrusted.digest)


def _untrusted(config: Path) -> ConfigurationUntrusted | None:
    try:
        load_settings(config, needs_sources=False, is_named=False)
    except ConfigurationUntrusted as untrusted:
        return untrusted
    except ConfigurationError:  # a mistake in it, which the next command names
        return None
    return None


def _has_terminal() -> bool:
    return sys.stdin.isatty() and show.errors.is_terminal


def _report(file: str, state: str, *, as_json: bool) -> None:
    if as_json:
        show.print_json({"file": file, "state": state})
    else:
        show.console.print(show.plain(f"{file}: {state.replace('_', ' ')}"), soft_wrap=True)
