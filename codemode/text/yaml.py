"""YAML by libyaml. Errors name the line of an unreadable value and never quote Python's own messages."""

from __future__ import annotations

import sys
from typing import Any

import yaml
from yaml.constructor import ConstructorError

_BASE: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

#: Raised by constructors for `2024-13-45`, `!!bool maybe`, `!!timestamp soon`, and a number of 5,000 digits.
_UNREADABLE = (ValueError, KeyError, AttributeError, OverflowError)


class YamlLoader(_BASE):  # type: ignore[misc, valid-type]
    """A loader that raises only yaml.MarkedYAMLError, which holds nothing of the text."""

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:  # noqa: FBT001, FBT002
        """Construct an object as the parent does."""
        try:
            found = super().construct_object(node, deep)
        except _UNREADABLE:
            kind = str(node.tag).rpartition(":")[2]
            reason = too_long(len(node.value)) if kind in ("int", "float") and len(node.value) > _DIGITS else ""
            problem = reason or f"this value looks like {kind}, but is not valid; quote it to read it as text"
            raise ConstructorError(None, None, problem, node.start_mark) from None
        # Python reads longer hexadecimal numbers, but cannot print them.
        if isinstance(found, int) and abs(found) >= _TOO_LARGE:
            raise ConstructorError(None, None, too_long(len(node.value)), node.start_mark)
        return found


def too_long(digits: int) -> str:
    """Return the message about a number that is too long."""
    return f"a number of {digits:,} digits is too long, at most {_DIGITS:,} are read; quote it to read it as text"


_DIGITS = sys.int_info.default_max_str_digits
_TOO_LARGE = 10**_DIGITS
