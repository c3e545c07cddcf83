"""Arguments as clients and models send them, read as the arguments that the tools have.

Clients fill optional arguments with null, add arguments of their own, and send lists as JSON text. What is read
differently from what was sent becomes a note, so that a model can correct it.
"""

from __future__ import annotations

import json
from types import NoneType
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from codemode.catalog.arguments import accepts, takes
from codemode.errors import WrongArgument
from codemode.executions.life.programs import Request
from codemode.model.deferred import ToolSearchArguments
from codemode.model.json_arguments import unfenced
from codemode.model.whole_results import LoadArguments
from codemode.search.request import SearchRequest
from codemode.text.normal_form import joined
from codemode.text.validation import described

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from codemode.catalog.tool import Tool

#: Other names of arguments.
_ALIASES = {"query": "queries"}

#: Arguments whose value is a list or an object, and never JSON text.
_STRUCTURED = frozenset(("queries", "inputs"))

#: Arguments whose value is never the word for no value, and these words.
_NEVER_WORDS = frozenset(("resume_from", "dry_run", "detail", "effect", "limit", "offset"))
_NO_VALUE = frozenset(("", "null", "none", "undefined"))

#: How JSON begins that is no text, no word, and no part of one.
_BEGINNINGS = frozenset("{[-0123456789")

#: Arguments that say what is asked for. Without any of them, an unknown argument stands for one.
_PURPOSES = frozenset(("queries", "query", "code", "resume_from", "plan", "handle"))

#: Arguments that clients add to each call of any tool: n8n, LangChain, agents of the AI SDK.
_OF_CLIENTS = frozenset(
    ("toolcallid", "sessionid", "chatinput", "action", "tool", "threadid", "requestid", "messageid", "runid")
)

#: Names of ignored arguments in a note, and characters of each.
_NAMED, _NAME_CHARACTERS = 5, 40

#: Mistakes of a typing error: letters that differ.
_SLIPS = 2


class ArgumentsRead(NamedTuple):
    """Arguments as they were meant. `notes` say what was read differently from what was sent."""

    arguments: dict[str, Any]
    notes: tuple[str, ...] = ()


class ExecuteArguments(BaseModel):
    """Arguments of `execute`. `codemode.executions.life.programs.Purpose` says what they ask for together."""

    model_config = ConfigDict(extra="forbid")

    code: str = ""
    resume_from: str = ""
    dry_run: bool = False

    @model_validator(mode="after")
    def _something_to_do(self) -> ExecuteArguments:
        try:
            self.request().purpose(dry_run=self.dry_run)
        except WrongArgument as error:
            raise ValueError(str(error)) from None
        return self

    def request(self, **more: Any) -> Request:
        """Return the request for an execution. `more` are its other fields."""
        return Request(self.code, resume_from=self.resume_from, **more)


def problem_of(error: ValidationError) -> str:
    """Return a message that lists the invalid arguments and names the valid ones."""
    models: tuple[type[BaseModel], ...] = (SearchRequest, LoadArguments, ToolSearchArguments)
    model = next((one for one in models if error.title == one.__name__), ExecuteArguments)
    return f"{described(error, model.model_fields)}; valid: {', '.join(model.model_fields)}"


def read_arguments(model: type[BaseModel], given: Mapping[str, Any]) -> ArgumentsRead:
    """Read the arguments of a model of ours. Arguments that look like a mistyped one of ours stay, to be rejected."""
    given, notes = _unwrapped(given, model)
    read: dict[str, Any] = {}
    unknown: dict[str, Any] = {}
    for name, value in given.items():
        own = _meant(name, model.model_fields)
        if own and (own == name or own not in given):
            read[own] = value
        else:
            unknown[name] = value
    read = {name: _read(name, value) for name, value in read.items() if not _is_absent(model, name, value)}
    absent = set(model.model_fields) - set(read)
    lacks_purpose = not _PURPOSES & read.keys()
    mistyped = {
        name: value
        for name, value in unknown.items()
        if not _is_of_client(name) and (lacks_purpose or _looks_mistyped(name, absent))
    }
    return ArgumentsRead(read | mistyped, (*notes, *_ignored(set(unknown) - set(mistyped), model.model_fields)))


def read_native(tool: Tool, given: Mapping[str, Any]) -> ArgumentsRead:
    """Read the arguments of a tool of the catalog. Only what clients are known to add is ignored."""
    own = {name: value for name, value in given.items() if accepts(tool, name) or not _is_of_client(name)}
    read = {name: _decoded(tool, name, value) for name, value in own.items()}
    return ArgumentsRead(read, _ignored(set(given) - set(own), tool.parameter_names))


def _unwrapped(given: Mapping[str, Any], model: type[BaseModel]) -> ArgumentsRead:
    """Return the arguments that came together in one, as an object or as JSON text: in `code`, or in an unknown one."""
    asked = [name for name in given if _meant(name, model.model_fields) in _PURPOSES]
    for name in asked or [name for name in given if name not in model.model_fields]:
        value = given[name]
        inner = _json(unfenced(value), dict) if isinstance(value, str) else value
        if isinstance(inner, dict) and _are_arguments(inner, model):
            outer = {key: one for key, one in given.items() if key != name}
            return ArgumentsRead(outer | inner, (f"{name} held all arguments as JSON: send each under its own name",))
    return ArgumentsRead(dict(given))


def _are_arguments(inner: Mapping[str, Any], model: type[BaseModel]) -> bool:
    """Whether an object has the arguments of a call: one that says what to do, and none that is unknown."""
    names = {_meant(name, model.model_fields): value for name, value in inner.items() if not _is_of_client(name)}
    purposes = {name: value for name, value in names.items() if name in _PURPOSES}
    is_code = isinstance(purposes.get("code", ""), (str, NoneType))  # a program may return an object with this key
    return bool(purposes) and is_code and "" not in names


def _meant(name: str, known: Collection[str]) -> str:
    """Return the argument with this name, also in another spelling such as `resumeFrom`, or ""."""
    if name in known:
        return name
    alias = _ALIASES.get(name.lower(), "")
    if alias in known:
        return alias
    return next((one for one in known if _plain(one) == _plain(name)), "")


def _is_absent(model: type[BaseModel], name: str, value: Any) -> bool:
    """Whether a value stands for no value: null, also as a word, or an empty text where no text is required."""
    is_word = name in _NEVER_WORDS and isinstance(value, str) and value.strip().lower() in _NO_VALUE
    return value is None or is_word or (value == "" and not model.model_fields[name].is_required())


def _read(name: str, value: Any) -> Any:
    """Return a value as it was meant: lists and objects out of JSON text, and one value out of a list of one."""
    parsed = _json(value, (list, dict)) if isinstance(value, str) and name != "code" else None
    if parsed is not None and (name in _STRUCTURED or _is_single(parsed)):
        value = parsed
    if name not in _STRUCTURED and _is_single(value):
        value = value[0]
    if isinstance(value, list):
        return [joined(one) if isinstance(one, str) else one for one in value]
    return joined(value) if isinstance(value, str) else value


def _is_single(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 1 and not isinstance(value[0], (list, dict))


def _decoded(tool: Tool, name: str, value: Any) -> Any:
    """Return a value that was sent as JSON text, if the tool takes it only so."""
    if not isinstance(value, str):
        return value
    parsed = {"true": True, "false": False}.get(value.lower(), _json(value, (list, dict, int, float)))
    if parsed is None or not accepts(tool, name) or takes(tool, name, value) or not takes(tool, name, parsed):
        return joined(value)
    return parsed


def _json(text: str, kind: type | tuple[type, ...]) -> Any:
    """Return the JSON value of a text if it is of a kind, else None."""
    if text.strip()[:1] not in _BEGINNINGS:
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, kind) else None


def _looks_mistyped(name: str, absent: Collection[str]) -> bool:
    """Whether a name looks like an argument that was not given: a few letters differ, or one begins the other."""
    from rapidfuzz.distance import OSA  # noqa: PLC0415 -- few calls come this far

    plain = _plain(name)
    for one in map(_plain, absent):
        slips = 1 if len(one) <= 2 * _SLIPS else _SLIPS
        is_part = one.startswith(plain) or plain.startswith(one)
        if OSA.distance(plain, one) <= slips or (is_part and 2 * len(plain) >= len(one)):
            return True
    return False


def _is_of_client(name: str) -> bool:
    return name[:1] in ("_", "$") or _plain(name) in _OF_CLIENTS


def _plain(name: str) -> str:
    return name.lower().replace("_", "").replace("-", "")


def _ignored(names: Collection[str], known: Collection[str]) -> tuple[str, ...]:
    if not names:
        return ()
    shown = [one[:_NAME_CHARACTERS] for one in sorted(names)[:_NAMED]]
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    valid = f"; valid: {', '.join(known)}" if known else ""
    return (f"ignored unknown arguments: {', '.join(shown)}{more}{valid}",)
