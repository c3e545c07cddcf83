"""Errors in how a command was typed: with the nearest valid value, and as JSON with `--json`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from collections.abc import Sequence

#: What typer raises for wrong options, arguments and commands. It exports the subclass only.
UsageError: type[Exception] = typer.BadParameter.__mro__[1]

#: A rejected choice, as click and pydantic word it.
_NOT_ONE_OF = re.compile(r"^(?:Value error, )?(?P<given>'.*'|\".*\") is not one of (?P<choices>.+?)\.?$", re.DOTALL)


def with_nearest(message: str) -> str:
    """Return the message of a rejected choice with the nearest valid one, and other messages as they are."""
    found = _NOT_ONE_OF.match(message)
    if found is None:
        return message
    from codemode.text.nearest import did_you_mean

    choices = re.findall(r"'([^']*)'", found["choices"])
    return f"{found['given']} is not one of {', '.join(choices)}{did_you_mean(found['given'][1:-1], choices)}"


def wants_json(words: Sequence[str]) -> bool:
    """Whether `--json` is among the options of a command line."""
    options = words[: words.index("--")] if "--" in words else words
    return "--json" in options


def print_usage_error(error: Exception) -> int:
    """Print a usage error as one line of JSON to standard error, and return its exit code."""
    from codemode.serving.output import terminal as show

    code = getattr(error, "exit_code", 2)
    message = error.format_message() if hasattr(error, "format_message") else str(error)
    show.print_json_line({"error": {"code": "usage_invalid", "message": message, "exit_code": code}}, show.errors)
    return code
