"""Parse call arguments as models write them: JSON, JSON in a string or a fenced block, long strings, or bare code."""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from typing import Any

#: Characters of the model's text quoted in an error.
_SHOWN = 60

#: The first line of a fenced block.
_FENCE = re.compile(r"```[\w-]*+[^\S\n]*+\n")

#: The only argument of `execute`, whose quotes were not escaped.
_CODE = re.compile(r"""\A\{\s*"code"\s*:\s*"(.*)"\s*\}\s*\Z""", re.DOTALL)

#: The beginning of a string in Python's triple quotes or in backticks as a JSON value, and its end by its quotes.
_OPENING = re.compile(r"""(?<=[:\[,{ ])(\"{3}|'{3}|`)""")
_CLOSINGS = {quotes: re.compile(rf"(?={quotes}\s*[,}}\]])") for quotes in ('"""', "'''", "`")}

_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}


class Malformed(Exception):
    """The arguments are unusable. The message tells the model what is wrong, where, and what to send instead.

    `given` are the arguments as far as they could be read.
    """

    def __init__(self, message: str, given: Any = None) -> None:
        super().__init__(message)
        self.given = given


def read_text(name: str, text: str, *, cut_off: bool = False) -> dict[str, Any]:
    """Return the arguments of a call. Pass `cut_off=True` if the answer reached its token limit.

    Raises Malformed.
    """
    stripped = unfenced(text)
    if not stripped:
        return {}
    value: Any = stripped
    for _ in range(3):  # models sometimes encode twice
        if not isinstance(value, str):
            break
        value = _decoded(name, value, cut_off=cut_off)
    if not isinstance(value, dict):
        message = f"the arguments of {name} are {_kind(value)}: send a JSON object, such as {{}}"
        raise Malformed(message, value)
    return value


def _decoded(name: str, text: str, *, cut_off: bool) -> Any:
    try:
        return json.loads(text, strict=False)  # models write line breaks into strings
    except RecursionError:
        message = f"the arguments of {name} are nested too deeply"
    except ValueError as error:
        if (code := _code(text) if name == "execute" else None) is not None:
            return {"code": code}
        if (repaired := with_json_strings(text)) != text:
            return _decoded(name, repaired, cut_off=cut_off)
        if cut_off:
            message = f"the arguments of {name} were cut off: your answer was too long, make it shorter"
        else:
            at = getattr(error, "pos", 0)
            near = text[max(at - _SHOWN // 2, 0) : at + _SHOWN // 2]
            problem = getattr(error, "msg", str(error))
            message = (
                f"the arguments of {name} are not JSON: {problem} at character {at}, near {near!r}; send them again"
            )
    raise Malformed(message, text if text[:1] not in '{["' else None)


def with_json_strings(text: str) -> str:
    """Return a text with its triple-quoted and backtick strings as JSON strings."""
    closings = {quotes: [found.start() for found in pattern.finditer(text)] for quotes, pattern in _CLOSINGS.items()}
    pieces, done = [], 0
    for opening in _OPENING.finditer(text):
        quotes, ends = opening[0], closings[opening[0]]
        place = bisect_left(ends, opening.end())
        if opening.start() >= done and place < len(ends):
            pieces += [text[done : opening.start()], json.dumps(text[opening.end() : ends[place]])]
            done = ends[place] + len(quotes)
    return "".join((*pieces, text[done:]))


def _code(text: str) -> str | None:
    """Return the program in arguments that are not JSON: bare code, or code with unescaped quotes."""
    if text[:1] not in '{["':
        return text
    found = _CODE.match(text)
    if found is None or found[1].startswith('""'):
        return None
    return re.sub(r"\\(.)", lambda escape: _ESCAPES.get(escape[1], escape[1]), found[1])


def unfenced(text: str) -> str:
    """Return a text without space and a fence around it."""
    stripped = text.strip()
    found = _FENCE.match(stripped)
    return stripped[found.end() : -3].strip() if found and stripped.endswith("```", found.end()) else stripped


def _kind(value: Any) -> str:
    names = {list: "a list", str: "a string", bool: "a boolean", int: "a number", float: "a number"}
    return "null" if value is None else names.get(type(value), "not an object")
