"""The namespace of a source: its name, and the object through which programs call its tools."""

from __future__ import annotations

import builtins
import keyword
import re
from typing import Annotated

from pydantic import AfterValidator, Field

from codemode.errors import ConfigurationError

_PATTERN = r"^[a-z][a-z0-9_]{0,31}$"

#: Functions for programs besides tools, and builtins of Python's `site` module that programs do not need.
_OWN = frozenset(("describe", "search", "tools"))
_OF_SITE = frozenset(("copyright", "credits", "license"))


def namespace(name: str) -> str:
    """Return the name if programs can use it. Raises ConfigurationError with the reason if not."""
    if not re.fullmatch(_PATTERN, name):
        message = (
            f"{name!r} cannot be a namespace: use a lower-case letter, then letters, digits and _, at most 32 in all"
        )
    elif keyword.iskeyword(name):
        message = f"{name!r} cannot be a namespace: it is a Python keyword"
    elif name in _OWN or (hasattr(builtins, name) and name not in _OF_SITE):
        message = f"{name!r} cannot be a namespace: programs already have a function of this name"
    else:
        return name
    raise ConfigurationError(message)


def is_namespace(name: str) -> bool:
    """Return whether programs can use the name."""
    try:
        namespace(name)
    except ConfigurationError:
        return False
    return True


def _checked(name: str) -> str:
    try:
        return namespace(name)
    except ConfigurationError as error:
        raise ValueError(str(error)) from None


#: The JSON Schema has the pattern, by which it describes the keys of a source.
Namespace = Annotated[str, Field(json_schema_extra={"pattern": _PATTERN}), AfterValidator(_checked)]
