"""Hints by the text of an error."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sandbox.guest.advice.situation import Situation

_TEXTS: list[tuple[str, str]] = [
    (
        r"compare datetime\.datetime to datetime\.date|'datetime\.date(time)?' and 'datetime\.date(time)?'",
        "make both sides one kind: x.date() is the date of a datetime",
    ),
    (
        r"'str'.*'(datetime\.)?(date|datetime)'|'(datetime\.)?(date|datetime)'.*'str'",
        "one side is text: date.fromisoformat(text) or datetime.fromisoformat(text) reads a date",
    ),
    (
        r"unsupported format string passed to",
        "the value has no format of its own: write str(x) in the braces, or take the field that is meant",
    ),
    (
        r"Unknown format code '\w' for object of type 'str'",
        "the value is text: write float(x) in the braces for a number",
    ),
    (r"object of type 'NoneType' has no len", "the value is None (a field without a value is null): len(x or [])"),
    (r'can only concatenate str \(not "NoneType"\)', "the value is None (a field without a value is null): (x or '')"),
    (
        r"sequence item \d+: expected str instance",
        "join takes text: ', '.join(str(x) for x in xs), or a field of each, as in x['name']",
    ),
    (
        r"expected string or bytes-like object, got '(dict|list|Record)'",
        "it is data, not text: look at one of its fields, or at json.dumps(value)",
    ),
    (r"(requires|must have) at least (one|two) data point", "the list is too short: test its length first"),
    (r"doesn't define __round__", "round takes numbers: round(float(x), 2)"),
    (r"could not convert string to float", 'text with other signs: float(re.sub(r"[^0-9.-]", "", text))'),
    (r"invalid literal for int\(\) with base 10: '-?\d+\.\d+'", "the text is a decimal number: int(float(text))"),
    (r"invalid literal for int\(\)", 'text with other signs: int(re.sub(r"[^0-9-]", "", text))'),
    (
        r"^(?!.*<locals>)\w+\.\w+\(\) takes 0 positional arguments but 1 was given",
        "the first parameter of a method is self: write def name(self):",
    ),
    (
        r"'(set|frozenset|dict_\w+|map|filter|zip|generator|reversed|enumerate)' object is not subscriptable",
        "it has no positions: list(x)[0], or next(iter(x))",
    ),
    (
        r"'(month|year)s?' is an invalid keyword|unexpected keyword argument '(month|year)s'",
        "they differ in length: days=30, or date.replace(year=..., month=...) with calendar.monthrange",
    ),
    (
        r"^(int|float)\(\) argument must be .* not 'NoneType'",
        "the value is None (a field without a value is null): int(x or 0)",
    ),
    (r"^(\w+)\.(\w+)\(\) missing \d+ required .*'self'", r"it is a method of objects: write \1().\2()"),
    (
        r"bytes-like object is required, not 'str'|must be encoded before|expected bytes or bytearray, but got 'str'",
        "text becomes bytes by text.encode()",
    ),
    (r"no such group", "count the groups of the pattern, ( to ), from 1; group(0) is all of it"),
    (r"from an empty sequence|(pop|popitem)(\(\))?:? .*empty|pop from (an )?empty", "it is empty: test `if x:` first"),
    (r"'module' object is not callable", "that is the module: write `from name import name`, or name.name(...)"),
]


def hint_for_text(at: Situation) -> str:
    """Return a hint, or an empty text."""
    found = ((re.search(pattern, at.message), hint) for pattern, hint in _TEXTS)
    return next((match.expand(hint) if r"\1" in hint else hint for match, hint in found if match), "")
