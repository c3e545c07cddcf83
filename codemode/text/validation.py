"""Validation errors of pydantic as messages: which argument, what is wrong, and the nearest valid value."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from codemode.text.nearest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pydantic import ValidationError

#: Characters of a value that a message repeats.
_SHOWN = 60


def described(error: ValidationError, known: Iterable[str] = ()) -> str:
    """Return all errors in one line. `known` are the valid argument names.

    Values are repeated for choices only: any other argument may hold a secret.
    """
    names = tuple(known)
    return "; ".join(_described(one, names) for one in error.errors(include_url=False))


def _described(error: Any, known: tuple[str, ...]) -> str:
    place = ".".join(map(str, error["loc"]))
    match error["type"]:
        case "extra_forbidden":
            text = f"unknown argument{did_you_mean(place, known)}"
        case "missing":
            text = "required argument is missing"
        case "literal_error" | "enum":
            given = repr(error["input"])[:_SHOWN]
            valid = re.findall(r"'([^']*)'", str(error["ctx"]["expected"]))
            text = f"{error['msg']}, got {given}{did_you_mean(given, valid)}"
        case _:
            text = str(error["msg"]).removeprefix("Value error, ")
    return f"{place}: {text}" if place else text
