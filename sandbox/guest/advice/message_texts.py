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
    (r"can't multiply sequence by non-int", "one side is text or a list: float(x) is the number of a text"),
    (r'can only concatenate str \(not "NoneType"\)', "the value is None (a field without a value is null): (x or '')"),
    (
        r"sequence item \d+: expected str instance",
        "join takes text: ', '.join(str(x) for x in xs), or a field of each, as in x['name']",
    ),
    (r"unconverted data remains", "the form ends before the text does; datetime.fromisoformat(text) reads ISO forms"),
    (
        r"expected string or bytes-like object, got '(dict|list|Record)'",
        "it is data, not text: look at one of its fields, or at json.dumps(value)",
    ),
    (r"(requires|must have) at least (one|two) data point", "the list is too short: test its length first"),
    (r"math domain error", "the function has no value there: test the argument first, or use cmath"),
    (r"not enough arguments for format string", "each % in the text takes a value of a tuple: text % (a, b)"),
    (r"not all arguments converted during string formatting", "each value of the tuple needs a % in the text"),
    (r"Replacement index \d+ out of range", "each {} in the text takes an argument of format()"),
    (r"for >>: 'function'", "print is a function: print(..., file=sys.stderr)"),
    (r"doesn't define __round__", "round takes numbers: round(float(x), 2)"),
    (r"could not convert string to float", 'text with other signs: float(re.sub(r"[^0-9.-]", "", text))'),
    (r"invalid literal for int\(\) with base 10: '-?\d+\.\d+'", "the text is a decimal number: int(float(text))"),
    (r"invalid literal for int\(\)", 'text with other signs: int(re.sub(r"[^0-9-]", "", text))'),
    (
        r"^(?!.*<locals>)\w+\.\w+\(\) takes 0 positional arguments but 1 was given",
        "the first parameter of a method is self: write def name(self):",
    ),
    (r"'async for' requires an object with __aiter__", "it is no stream: write a plain `for`"),
    (r"does not support the asynchronous context manager", "write `with`, without async"),
    (
        r"Exceeds the limit \(\d+ digits\)",
        "sys.set_int_max_str_digits(0) allows longer numbers in text; a result has them as text: str(n)",
    ),
    (
        r"'(set|frozenset|dict_\w+|map|filter|zip|generator|reversed|enumerate)' object is not subscriptable",
        "it has no positions: list(x)[0], or next(iter(x))",
    ),
    (r"object of type '(map|filter|zip|generator|reversed|enumerate)' has no len", "len(list(x)); keep that list"),
    (r"'datetime\.\w+' object is not subscriptable", "it is no text: x.isoformat(), x.strftime(form), x.year"),
    (
        r"'(month|year)s?' is an invalid keyword|unexpected keyword argument '(month|year)s'",
        "they differ in length: days=30, or date.replace(year=..., month=...) with calendar.monthrange",
    ),
    (
        r"^(int|float)\(\) argument must be .* not 'NoneType'",
        "the value is None (a field without a value is null): int(x or 0)",
    ),
    (r"'(str|tuple|bytes)' object does not support item (assignment|deletion)", "it never changes: make a new one"),
    (r"^(\w+)\.(\w+)\(\) missing \d+ required .*'self'", r"it is a method of objects: write \1().\2()"),
    (
        r"bytes-like object is required, not 'str'|must be encoded before|expected bytes or bytearray, but got 'str'",
        "text becomes bytes by text.encode()",
    ),
    (r'can only concatenate str \(not "bytes"\)', "bytes become text by data.decode()"),
    (r"'ellipsis'", "`...` stands for what was left out: write the value"),
    (
        r"'float' object cannot be interpreted as an integer|slice indices must be",
        "whole numbers alone: int(x), x // y",
    ),
    (
        r"'(int|float)' object is not (iterable|subscriptable|reversible)|object of type '(int|float)' has no len",
        "it is one number: str(x) has its digits, range(x) the numbers below it, [x] is a list of it",
    ),
    (r"no such group", "count the groups of the pattern, ( to ), from 1; group(0) is all of it"),
    (r"from an empty sequence|(pop|popitem)(\(\))?:? .*empty|pop from (an )?empty", "it is empty: test `if x:` first"),
    (r"'module' object is not callable", "that is the module: write `from name import name`, or name.name(...)"),
]


def hint_for_text(at: Situation) -> str:
    """Return a hint, or an empty text."""
    found = ((re.search(pattern, at.message), hint) for pattern, hint in _TEXTS)
    return next((match.expand(hint) if r"\1" in hint else hint for match, hint in found if match), "")
