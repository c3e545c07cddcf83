"""A person's consent to a configuration file that was found in a folder."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from codemode.errors import ConfigurationError
from codemode.serving.cli.typed import discard_typed
from codemode.serving.output import terminal as show
from codemode.settings import ConfigurationUntrusted, load_settings, trust

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

ASKED = "Trust it as it is now?"


def ask_for_trust(untrusted: ConfigurationUntrusted) -> bool:
    """Ask at a terminal whether to trust a file, and record a yes. Return False if nobody can be asked, or for a no.

    Raises ConfigurationError.
    """
    if not has_terminal():
        return False
    discard_typed()
    show.errors.print(show.plain(untrusted.question, style="yellow"), soft_wrap=True)
    if not typer.confirm(ASKED, err=True):
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


def has_terminal() -> bool:
    """Return whether a person can be asked."""
    return sys.stdin.isatty() and show.errors.is_terminal
