"""YAML as libyaml reads it; a value that cannot be read is told with its line, and never in Python's own words."""

from __future__ import annotations

import sys
from typing import Any

import yaml
from yaml.constructor import ConstructorError

_BASE: type[yaml.SafeLoader] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

#: What constructors raise for `2024-13-45`, `!!bool maybe`, `!!timestamp soon`, and a number of 5,000 digits.
_UNREADABLE = (ValueError, KeyError, AttributeError, OverflowError)


class YamlLoader(_BASE):  # type: ignore[misc, valid-type]
    """Raises yaml.MarkedYAMLError alone, which holds nothing of the text."""

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:  # noqa: FBT001, FBT002
        """As its parent does."""
        try:
            found = super().construct_object(node, deep)
        except _UNREADABLE:
            kind = str(node.tag).rpartition(":")[2]
            reason = too_long(len(node.value)) if kind in ("int", "float") and len(node.value) > _DIGITS else ""
            problem = reason or f"what looks like a value of the type {kind} is none; quotes around it make text of it"
            raise ConstructorError(None, None, problem, node.start_mark) from None
        if isinstance(found, int) and abs(found) >= _TOO_LARGE:  # hexadecimal ones are read, and never written
            raise ConstructorError(None, None, too_long(len(node.value)), node.start_mark)
        return found


def too_long(digits: int) -> str:
    """What is said of a number that Python does not read."""
    return f"a number of {digits:,} digits, {_DIGITS:,} are read; quotes around it make text of it"


_DIGITS = sys.int_info.default_max_str_digits
_TOO_LARGE = 10**_DIGITS
