"""One corrected call for arguments that have the wrong shape."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ValidationError

from codemode.catalog.arguments import accepts, missing, takes
from codemode.model.arguments import ExecuteArguments, read_arguments
from codemode.search.request import SearchRequest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from codemode.catalog.tool import Tool

#: The two tools: their arguments, the required one, and a value for it if the model gave none.
_TOOLS: dict[str, tuple[type[BaseModel], str, Any]] = {
    "search": (SearchRequest, "queries", ["list clients"]),
    "execute": (ExecuteArguments, "code", "search(['list clients'])"),
}

#: Characters of the model's own value in a corrected call; a longer one is replaced.
_SHOWN = 300


def with_example(problem: str, name: str, given: Any) -> str:
    """Return the problem and, for the two tools, a valid call that keeps what it can of the given arguments."""
    return f"{problem}. {_example(name, given)}" if name in _TOOLS else problem


def native_call(tool: Tool, name: str, given: Mapping[str, Any]) -> str:
    """Return a call of a tool by its function name that keeps what it can of the given arguments.

    A value under an unknown name, alone or in a list, is taken for a missing argument. What remains missing is `…`.
    """
    nested = [value for key, value in given.items() if not accepts(tool, key) and isinstance(value, dict)]
    kept = {key: value for one in (*nested, given) for key, value in one.items() if takes(tool, key, value)}
    strange = [value for key, value in given.items() if not accepts(tool, key)]
    wanted = missing(tool, kept)
    for values in (strange, *(one for one in strange if isinstance(one, list))):
        if len(values) == len(wanted) and all(map(partial(takes, tool), wanted, values)):
            kept |= dict(zip(wanted, values, strict=True))
            break
    else:
        kept |= dict.fromkeys(wanted, "…")
    shown = json.dumps(kept, ensure_ascii=False)
    return f"Call {name}({shown if len(shown) <= _SHOWN else json.dumps(dict.fromkeys(kept, '…'), ensure_ascii=False)})"


def next_program(tool: Tool) -> str:
    """Return a call of `execute` whose program calls the tool, as an example for a model that only searches."""
    arguments = ", ".join(f"{one.name}=…" for one in tool.parameters if one.required)
    return f"execute({json.dumps({'code': f'{tool.id}({arguments})'}, ensure_ascii=False)})"


def _example(name: str, given: Any) -> str:
    model, required, default = _TOOLS[name]
    value = _value(model, required, given)
    kept = {key: one for key, one in given.items() if key in model.model_fields} if isinstance(given, dict) else {}
    sent = kept if value is None else {**kept, required: value}
    candidates = (
        sent,
        _without(sent, "resume_from"),
        {required: value},
        _without(kept, "dry_run"),
        {required: default},
    )
    arguments = next(one for one in candidates if _is_valid(model, one))
    return f"{name} takes {required}: {name}({json.dumps(arguments, ensure_ascii=False)})"


def _without(arguments: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in arguments.items() if key != name}


def _value(model: type[BaseModel], required: str, given: Any) -> Any:
    """Return the value that was meant for the required argument: the one under its name, else the first of its kind."""
    values: list[Any] = [given]
    if isinstance(given, dict):
        unknown = [one for key, one in given.items() if key not in model.model_fields]
        values = [given.get(required), *unknown]
    for value in values:
        found = _as(required, value)
        if found is not None:
            return found
    return None


def _as(required: str, value: Any) -> Any:
    """Return a value as queries or as code, or None."""
    texts = [value] if isinstance(value, str) else value
    if not (isinstance(texts, list) and texts and all(isinstance(one, str) and one.strip() for one in texts)):
        return None
    if required == "code":
        return "\n".join(texts)
    return texts


def _is_valid(model: type[BaseModel], arguments: Mapping[str, Any]) -> bool:
    try:
        model.model_validate(read_arguments(model, arguments).arguments)
    except ValidationError:
        return False
    return len(json.dumps(arguments)) <= _SHOWN
