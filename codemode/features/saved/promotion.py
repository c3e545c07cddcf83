"""Promotion: a good execution becomes a saved program."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import yaml

from codemode.catalog.effects import worst
from codemode.catalog.observed import shape_of
from codemode.catalog.saved import SavedProgram
from codemode.errors import ToolNotFound
from codemode.executions.run.forms import form_of
from codemode.executions.types.saving_errors import SavedProgramInvalid, SavingRefused
from codemode.features.saved.file import is_name, parameters_of, parse, render
from codemode.text.nearest import did_you_mean
from codemode.text.times import rfc3339
from codemode.text.yaml import YamlLoader

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from codemode.catalog.catalog import Catalog
    from codemode.catalog.tool import Tool
    from codemode.executions.types.promotion import Promotion
    from codemode.executions.types.records import StoredExecution
    from sandbox import CallSite

#: A variable that the program sets in a line of its own: what a parameter replaces. A comment may follow the literal.
_ASSIGNMENT = re.compile(r"^(?P<name>[^\W\d]\w*+)[ \t]*+=[ \t]*+(?P<rest>\S[^\n]*+)$", re.MULTILINE)

#: Literals that mean the same in Python and in YAML.
_SIMPLE = re.compile(r"""-?\d+(\.\d+)?|True|False|None|"[^"\\]*"|'[^'\\]*'|[\[{][^\\]*[\]}]""")
_PYTHON_ONLY = {"True": True, "False": False, "None": None}

#: Longest literal that is read.
_MOST_CHARACTERS = 1_000

_TYPES = {bool: "boolean", int: "integer", float: "number", str: "string", list: "array", dict: "object"}


def draft(promotion: Promotion, stored: StoredExecution, earlier: SavedProgram | None) -> SavedProgram:
    """Return the program of an execution without its tools, which `completed` adds. Its code has no header yet.

    Raises SavingRefused if it cannot be saved.
    """
    if not is_name(promotion.name):
        message = f"{promotion.name!r} is no name of a program: use lower-case letters, digits and `_`"
        raise SavingRefused(message)
    if not promotion.description.strip():
        raise SavingRefused("a saved program needs a description (--describe): search finds it by that")
    if stored.status != "completed":
        message = f"{promotion.execution} is {stored.status}: only a completed execution can be saved"
        raise SavingRefused(message)
    body, parameters = _with_parameters(stored.request.code, promotion.parameters)
    value = (stored.outcome or {}).get("value")
    return SavedProgram(
        name=promotion.name,
        description=promotion.description.strip(),
        code=body,
        effect=worst(()),
        parameters=parameters,
        returns=_readable(shape_of(value)) if isinstance(value, (dict, list)) else {},
        roles=promotion.roles,
        version=earlier.version + 1 if earlier is not None else 1,
        saved_at=rfc3339(time.time_ns() // 1000),
        execution=promotion.execution,
    )


def completed(
    program: SavedProgram, sites: Sequence[CallSite], called: Iterable[str], catalog: Catalog
) -> SavedProgram:
    """Return a draft with its tools, its effect and its file's text.

    The tools are those that the source calls and those that the execution called.
    """
    names = dict.fromkeys((*(site.name for site in sites), *called))
    tools = {tool.id: tool for name in names if (tool := _tool(name, catalog)) is not None}
    if program.id in tools:
        message = f"{program.id} would call itself; give it another name"
        raise SavingRefused(message)
    whole = replace(program, tools=tuple(sorted(tools)), effect=worst(tool.effect for tool in tools.values()))
    try:
        written = parse(program.name, render(whole, program.code))
    except SavedProgramInvalid as error:
        raise SavingRefused(str(error)) from None
    if (written.tools, written.effect) != (whole.tools, whole.effect):
        message = f"{program.id} cannot be saved: its file would not read back as it is written"
        raise SavingRefused(message)
    return written


def _tool(name: str, catalog: Catalog) -> Tool | None:
    wanted = form_of(name, catalog)
    try:
        return wanted.tool if wanted is not None else catalog.get(name)
    except ToolNotFound:
        return None


def _with_parameters(code: str, wanted: Mapping[str, Mapping[str, Any]]) -> tuple[str, Mapping[str, Mapping[str, Any]]]:
    """Return the code without the lines that set parameters, and the schemas of the parameters."""
    schemas: dict[str, dict[str, Any]] = {}
    for name, schema in wanted.items():
        line = _line_of(name, code)
        value = _literal(name, _without_comment(line["rest"]))
        code = code[: line.start()] + code[line.end() + 1 :]
        kind = _TYPES.get(type(value))
        schemas[name] = {**({"type": kind} if kind and "type" not in schema else {}), **schema}
        if "default" not in schema:
            schemas[name].setdefault("examples", [value])
    try:
        return code, parameters_of(schemas)
    except SavedProgramInvalid as error:
        raise SavingRefused(str(error)) from None


def _line_of(name: str, code: str) -> re.Match[str]:
    lines = list(_ASSIGNMENT.finditer(code))
    own = [line for line in lines if line["name"] == name]
    if len(own) == 1:
        return own[0]
    if own:
        message = f"the program sets {name} in {len(own)} lines: a parameter is set in one, `{name} = …`"
    else:
        near = did_you_mean(name, [line["name"] for line in lines])
        message = f"the program has no line `{name} = …` that the parameter {name} could replace{near}"
    raise SavingRefused(message)


def _without_comment(rest: str) -> str:
    end = rest.find("#", 1)
    return (rest if end < 0 else rest[:end]).rstrip(" \t")


def _readable(schema: Any) -> Any:
    """Return a schema with `type: integer` for `type: [integer]`."""
    if isinstance(schema, dict):
        return {name: _readable(part) for name, part in schema.items()}
    return schema[0] if isinstance(schema, list) and len(schema) == 1 and isinstance(schema[0], str) else schema


def _literal(name: str, text: str) -> Any:
    if text in _PYTHON_ONLY:
        return _PYTHON_ONLY[text]
    if len(text) <= _MOST_CHARACTERS and _SIMPLE.fullmatch(text):
        try:
            return yaml.load(text, YamlLoader)  # noqa: S506 -- a safe loader
        except (yaml.YAMLError, RecursionError):
            pass
    message = f"the program sets {name} to {text[:80]}: a parameter replaces a literal, such as {name} = 30"
    raise SavingRefused(message)
