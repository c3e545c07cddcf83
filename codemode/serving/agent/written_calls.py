"""Calls that a model writes into its text: models without function calling, and weak models with it."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from codemode.model.json_arguments import with_json_strings
from codemode.model.names import offered_name
from codemode.serving.agent.transcript import ToolRequest

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping, Sequence

    from codemode.serving.agent.transcript import ModelAnswer

#: A fenced block, closed or at the end of the text: language, rest of that line, content.
_BLOCK = re.compile(r"^[ \t]*```[ \t]*+(\w*+)([^\n`]*+)\n(.*?)(?:^[ \t]*```|\Z)", re.DOTALL | re.MULTILINE)
_PROGRAMS = frozenset(("python", "py", "python3", "tool_code"))

#: `<tool_call>{"name": …}</tool_call>` (Hermes, Qwen) and its variants.
_TAGGED = re.compile(r"<(tool_call|function_call|tools)>\s*([{\[].*?)(?:</\1>|\Z)", re.DOTALL)

#: `Action: name` and `Action Input: {…}` (Yao et al., ReAct, 2022).
_ACTION = re.compile(
    r"^[ \t]*Action:[ \t]*`?([\w.-]+)`?[ \t]*\n[ \t]*Action Input:[ \t]*"
    r"(.*?)(?=^[ \t]*(?:Observation|Action|Thought):|\Z)",
    re.DOTALL | re.MULTILINE,
)

#: A name before an object: `search({…})`, `[TOOL_CALLS]search[ARGS]{…}` (Mistral), `<function=search>{…}` (Llama).
_NAMED = re.compile(
    r"^[ \t]*(?:\[TOOL_CALLS\][ \t]*|<function=)?`?([\w.-]+)(?:\[ARGS\]|[(>])?[ \t]*(?=\{)", re.MULTILINE
)

#: A JSON value at the start of a line, after a marker of Mistral or Llama if any.
_BARE = re.compile(r"^[ \t]*(?:(?:\[TOOL_CALLS\]|<\|python_tag\|>)[ \t]*)?(?=[{\[])", re.MULTILINE)

#: A call whose arguments are not JSON.
_INTENDED = re.compile(r'"(?:name|tool|function)"\s*:\s*"([\w.-]+)"\s*,\s*"(?:arguments|parameters|args)"\s*:\s*')

_NAMES = ("name", "tool", "tool_name", "function_name", "action", "function")
_ARGUMENTS = ("arguments", "parameters", "args", "action_input", "tool_input", "input", "params", "kwargs")
#: Keys that belong to neither.
_FURNITURE = frozenset(("type", "id", "index"))

#: Values read from one text.
_MOST_VALUES = 50

#: Calls without readable arguments after which no more are looked for: each is read to the end of the text.
_MOST_UNREAD = 8

_DECODER = json.JSONDecoder(strict=False)  # models write line breaks into strings


def programs(text: str) -> list[str]:
    """Return the Python programs in the fenced blocks of a text."""
    return [code for language, _, code in _BLOCK.findall(text) if language.lower() in _PROGRAMS]


def calls_of(namespaces: Iterable[str]) -> re.Pattern[str]:
    """Return a pattern that finds calls of tools, or of `search` and `describe`, in a program."""
    roots = "|".join(re.escape(one) for one in (*namespaces, "tools"))
    return re.compile(rf"(?<![\w.])(?:(?:{roots})\.|(?:search|describe)\()")


def written_calls(text: str, names: Container[str], runnable: Container[str] = ()) -> list[ToolRequest]:
    """Return the calls of known tools in a text. Their ids are empty.

    Tags, ReAct actions, fenced blocks and bare JSON are tried in this order; the first that yields a call counts. A
    fenced program is a call of `execute` if it is `runnable`. JSON that names no known tool is not a call.
    """
    for read in (_tagged, _actions, lambda text, names: _in_blocks(text, names, runnable), _named, _bare):
        if calls := list(read(text, names)):
            return calls
    return []


def with_calls(answer: ModelAnswer, calls: Sequence[ToolRequest]) -> ModelAnswer:
    """Return the answer with these calls, each with an id that is new in its conversation."""
    prefix = f"written_{uuid4().hex[:8]}"
    numbered = (replace(call, id=f"{prefix}_{number}") for number, call in enumerate(calls))
    return replace(answer, calls=tuple(numbered))


def _tagged(text: str, names: Container[str]) -> Iterator[ToolRequest]:
    for tag, content in _TAGGED.findall(text):
        yield from _calls(content, None if tag == "tool_call" else names)


def _actions(text: str, _: Container[str]) -> Iterator[ToolRequest]:
    for name, content in _ACTION.findall(text):
        yield ToolRequest("", name, content.strip())


def _in_blocks(text: str, names: Container[str], runnable: Container[str]) -> Iterator[ToolRequest]:
    for language, rest, content in _BLOCK.findall(text):
        word = language.lower()
        if word in _PROGRAMS:
            if content in runnable:
                yield ToolRequest("", "execute", json.dumps({"code": content}))
        elif word == "call":
            yield ToolRequest("", rest.strip(), content.strip())
        elif language in names:
            yield ToolRequest("", language, content.strip())
        else:
            yield from list(_named(content, names)) or _calls(content, names)


def _named(text: str, names: Container[str]) -> Iterator[ToolRequest]:
    unread = 0
    for found in _NAMED.finditer(text):
        name = offered_name(found[1], names)
        if name not in names:
            continue
        values = [value for value, _ in _values(text[found.end() :], most=1)]
        yield from (_request(name, value) for value in values)
        unread += not values
        if unread == _MOST_UNREAD:
            return


def _bare(text: str, names: Container[str]) -> Iterator[ToolRequest]:
    """Yield the calls in JSON that begins on a line of its own."""
    end = 0
    for _ in range(_MOST_VALUES):
        found = _BARE.search(text, end)
        if found is None:
            return
        rest = text[found.end() :]
        values = [*_values(rest)]
        yield from _calls(rest[: values[-1][1]] if values else rest.partition("\n\n")[0], names)
        end = found.end() + (values[-1][1] if values else 1)


def _calls(text: str, names: Container[str] | None) -> Iterator[ToolRequest]:
    """Yield the calls in JSON values that follow each other; `names` of None accepts every name."""
    values = [value for value, _ in _values(text)]
    if not values:
        yield from _intended(text, names)
    for value in values:
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, dict):
                yield from _from_object(one, names)


def _values(text: str, most: int = _MOST_VALUES) -> Iterator[tuple[Any, int]]:
    """Yield JSON values that follow each other, and where each ends; of a text with long strings, all end with it."""
    at = 0
    for number in range(most):
        at += len(text[at:]) - len(text[at:].lstrip(" \t\r\n,;"))
        try:
            value, at = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            repaired = with_json_strings(text)
            if number == 0 and repaired != text:
                yield from ((value, len(text)) for value, _ in _values(repaired, most))
            return
        yield value, at


def _from_object(value: Mapping[str, Any], names: Container[str] | None) -> Iterator[ToolRequest]:
    nested = value.get("tool_calls", value.get("function"))
    if isinstance(nested, (list, dict)):  # as chat completions have it
        for one in nested if isinstance(nested, list) else [nested]:
            if isinstance(one, dict):
                yield from _from_object(one, names)
        return
    known = names if names is not None else _Everything()
    key = next((key for key in _NAMES if isinstance(value.get(key), str)), None)
    if key is not None:
        name = offered_name(value[key], known)
        if name in known:
            beside = {one: given for one, given in value.items() if one != key and one not in _FURNITURE}
            yield _request(name, next((value[one] for one in _ARGUMENTS if one in value), beside))
        return
    meant = _meant(value)
    if meant in known:
        yield _request(meant, value)
    elif names is not None and len(value) == 1:  # {"search": {…}}
        name, given = next(iter(value.items()))
        if name in names:
            yield _request(name, given)


def _meant(value: Mapping[str, Any]) -> str:
    """Return which of the two tools takes these arguments, or ""."""
    if isinstance(value.get("queries"), list):
        return "search"
    code = value.get("code")
    return "execute" if len(value) == 1 and isinstance(code, str) and "(" in code else ""


def _intended(text: str, names: Container[str] | None) -> Iterator[ToolRequest]:
    """Yield a call that is not JSON, with its arguments as they are, so that the mistake can be reported."""
    found = _INTENDED.search(text)
    if found is not None and (names is None or offered_name(found[1], names) in names):
        arguments = text[found.end() :].strip()
        yield ToolRequest("", found[1], arguments[:-1].strip() if arguments.endswith("}") else arguments)


def _request(name: str, given: Any) -> ToolRequest:
    return ToolRequest("", name, given if isinstance(given, str) else json.dumps(given, ensure_ascii=False))


class _Everything:
    """Contains every name."""

    def __contains__(self, _: object) -> bool:
        return True
