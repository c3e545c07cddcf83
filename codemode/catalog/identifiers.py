"""Convert names of documents to Python names: parts of ids, types and parameters."""

from __future__ import annotations

import keyword
import re
from functools import lru_cache
from typing import TYPE_CHECKING

from codemode.text.normal_form import normalized

if TYPE_CHECKING:
    from collections.abc import Sequence


_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


_NOT_WORD = re.compile(r"[^A-Za-z0-9]+")


#: Symbols that distinguish wire names, such as Twilio's `EndTime<` and `EndTime>`.
_SYMBOLS = {"<=": "_lte", ">=": "_gte", "<": "_lt", ">": "_gt", "!=": "_not", "+": "_plus", "*": "_star"}


_SYMBOL = re.compile("|".join(re.escape(symbol) for symbol in _SYMBOLS))


#: Letters that Unicode does not decompose.
_LETTERS = str.maketrans(
    {"ß": "ss", "æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "đ": "d", "Đ": "D"}
)


@lru_cache(maxsize=65_536)
def snake(text: str) -> str:
    """Convert text to snake case: `listOAuth2Apps` and `List OAuth2-apps` become `list_oauth2_apps`. May be empty."""
    words = _NOT_WORD.sub(" ", _CAMEL.sub(" ", _ascii(text).replace("'", ""))).split()
    joined = "_".join(words).lower()
    return joined.replace("o_auth2", "oauth2").replace("o_auth", "oauth").replace("i_ds", "ids")


def _ascii(text: str) -> str:
    """Return the text without diacritics and without letters that have no Latin form."""
    if text.isascii():
        return text
    return normalized("NFKD", text.translate(_LETTERS)).encode("ascii", "ignore").decode()


def latin(text: str) -> str:
    """Return text in snake case, transliterated if it has no Latin letter: `获取用户` becomes `huo_qu_yong_hu`."""
    if snake(text) or text.isascii():
        return snake(text)
    from anyascii import anyascii

    return snake(anyascii(text))


def identifier(text: str, fallback: str = "unnamed") -> str:
    """Convert text to a part of an id: a valid Python name in snake case, no keyword, no leading underscore."""
    return legal(latin(text) or fallback)


def type_name(text: str) -> str:
    """Convert text to a type name: `full-repository` becomes `FullRepository`. May be empty."""
    parts = [part for part in re.split(r"[^A-Za-z0-9]+", text) if part]
    name = "".join(part if part[0].isupper() else part[0].upper() + part[1:] for part in parts)
    return f"T{name}" if name[:1].isdigit() else name


def parameter_name(wire_name: str) -> str:
    """Convert a wire name to a Python keyword argument. Valid names are unchanged."""
    if wire_name.isidentifier() and wire_name.isascii() and not wire_name.startswith("__"):
        return f"{wire_name}_" if keyword.iskeyword(wire_name) else wire_name
    text = _SYMBOL.sub(lambda symbol: _SYMBOLS[symbol[0]], _ascii(wire_name))
    return legal(_NOT_WORD.sub("_", text).strip("_") or latin(wire_name) or "value")


def parameter_names(wire_names: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """Return distinct Python names for `(location, wire name)` pairs, in order of precedence.

    A valid wire name takes precedence over a converted one. If two locations use the same name, the later one gets its
    location as prefix: `index` and `query_index`, `dryRun` and `body_dryRun`.
    """
    wanted = [parameter_name(wire) for _, wire in wire_names]
    if len(set(wanted)) == len(wanted):
        return tuple(wanted)
    names: dict[int, str] = {}
    taken: set[str] = set()
    for index in sorted(range(len(wanted)), key=lambda index: (wanted[index] != wire_names[index][1], index)):
        name = wanted[index]
        if name in taken:
            name = f"{wire_names[index][0].partition('_')[0]}_{name}"
        names[index] = _free(name, taken)
        taken.add(names[index])
    return tuple(names[index] for index in range(len(wire_names)))


def legal(name: str) -> str:
    """Return a valid Python name: no keyword, no digit first, no leading underscore."""
    name = name.lstrip("_") or "unnamed"
    if name[0].isdigit():
        name = f"n{name}"
    return f"{name}_" if keyword.iskeyword(name) else name


def _free(name: str, taken: set[str]) -> str:
    number = 2
    candidate = name
    while candidate in taken:
        candidate = f"{name}_{number}"
        number += 1
    return candidate
