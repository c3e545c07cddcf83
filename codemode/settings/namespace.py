"""The name of a source, which is also the root that programs call its tools by."""

from __future__ import annotations

import builtins
import keyword
import re
from typing import Annotated

from pydantic import AfterValidator, Field

from codemode.errors import ConfigurationError

_PATTERN = r"^[a-z][a-z0-9_]{0,31}$"

#: What programs are given besides tools, and what Python's site adds to its builtins without any use for programs.
_OWN = frozenset(("describe", "search", "tools"))
_OF_SITE = frozenset(("copyright", "credits", "license"))


def namespace(name: str) -> str:
    """The name, if programs can use it. Raises ConfigurationError, which says why they cannot."""
    if not re.fullmatch(_PATTERN, name):
        message = f"{name!r} cannot be a namespace: lower-case letters, digits and _, a letter first, 32 at most"
    elif keyword.iskeyword(name):
        message = f"{name!r} cannot be a namespace: it is a word of Python's, after which no name can follow"
    elif name in _OWN or (hasattr(builtins, name) and name not in _OF_SITE):
        message = f"{name!r} cannot be a namespace: programs need what has this name already"
    else:
        return name
    raise ConfigurationError(message)


def is_namespace(name: str) -> bool:
    """Whether programs can use the name."""
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


#: The schema says the pattern too: by it the keys of a source are found.
Namespace = Annotated[str, Field(json_schema_extra={"pattern": _PATTERN}), AfterValidator(_checked)]
