"""The file of a saved program: a Python file whose first comment block is its header, as YAML.

    # /// codemode
    # description: Return the members who have not come for a month.
    # version: 2
    # effect: read
    # tools: [gym.members.list]
    # parameters:
    #   days: {type: integer, default: 30}
    # ///
    gym.members.list(absent_days=days)

The block has the form of inline script metadata (PEP 723, with YAML for TOML, which has no null). The name of the file
is the name of the program.
"""

from __future__ import annotations

import keyword
import re
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import yaml
from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from codemode.catalog.saved import SavedProgram
from codemode.catalog.tool import Effect
from codemode.executions.types.saving_errors import SavedProgramInvalid
from codemode.settings import yaml_message
from codemode.text.validation import described
from codemode.text.yaml import YamlLoader

if TYPE_CHECKING:
    from collections.abc import Mapping

_BEGIN, _END = "# /// codemode", "# ///"

_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")

#: Largest number of characters of a line in the header, before YAML breaks it.
_WIDTH = 110


def is_name(name: str) -> bool:
    """Return whether a program can have this name: lower-case letters, digits and `_`, and no Python keyword."""
    return _NAME.fullmatch(name) is not None and not keyword.iskeyword(name)


def _variable(name: str) -> str:
    if not name.isidentifier() or keyword.iskeyword(name) or name.startswith("_"):
        message = f"{name!r} is not a variable that a program could read"
        raise ValueError(message)
    return name


def _schema(schema: dict[str, Any]) -> dict[str, Any]:
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        message = f"not a JSON Schema: {error.message[:200]}"
        raise ValueError(message) from None
    return schema


Schemas = dict[Annotated[str, AfterValidator(_variable)], Annotated[dict[str, Any], AfterValidator(_schema)]]


class Header(BaseModel):
    """The header of a file: the fields of `SavedProgram` but its name and code."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    description: Annotated[str, Field(min_length=1, max_length=4000)]
    version: Annotated[int, Field(ge=1)] = 1
    effect: Effect
    tools: tuple[str, ...] = ()
    parameters: Schemas = {}
    returns: Annotated[dict[str, Any], AfterValidator(_schema)] = {}
    roles: tuple[str, ...] = ()
    saved_by: str = ""
    saved_at: str = ""
    execution: str = ""


def parse(name: str, text: str) -> SavedProgram:
    """Return the program of a file. Raises SavedProgramInvalid with everything that is wrong in its header."""
    if not is_name(name):
        message = f"{name}.py: a saved program has a name of lower-case letters, digits and `_`, such as {_like(name)}"
        raise SavedProgramInvalid(message)
    try:
        content = yaml.load(_header(name, text), YamlLoader)  # noqa: S506 -- a safe loader
        header = Header.model_validate(content)
    except yaml.YAMLError as error:
        message = f"{name}.py: the header is not YAML: {yaml_message(error)}"
        raise SavedProgramInvalid(message) from None
    except ValidationError as error:
        message = f"{name}.py: {described(error)}"
        raise SavedProgramInvalid(message) from None
    return SavedProgram(name=name, code=text, **dict(header))


def render(program: SavedProgram, body: str) -> str:
    """Return the text of a program's file: its header and the program itself."""
    fields = asdict(program)
    header = {name: _plain(fields[name]) for name in Header.model_fields if fields[name] not in ("", (), {})}
    lines = yaml.safe_dump(header, sort_keys=False, allow_unicode=True, width=_WIDTH).splitlines()
    comment = "\n".join(f"# {line}".rstrip() for line in lines)
    return f"{_BEGIN}\n{comment}\n{_END}\n{body.strip(chr(10))}\n"


def body_of(program: SavedProgram) -> str:
    """Return the program without its header."""
    return program.code.partition(f"\n{_END}\n")[2]


def _header(name: str, text: str) -> str:
    lines = text.splitlines()
    if not lines or lines[0].strip() != _BEGIN or _END not in lines:
        message = f"{name}.py has no header: its first line is `{_BEGIN}`, and `{_END}` ends the block"
        raise SavedProgramInvalid(message)
    block = lines[1 : lines.index(_END)]
    stray = next((number for number, line in enumerate(block, 2) if not line.startswith("#")), 0)
    if stray:
        message = f"{name}.py, line {stray}: the header has comment lines only; `{_END}` ends it"
        raise SavedProgramInvalid(message)
    return "\n".join(["", *(line[1:].removeprefix(" ") for line in block)])  # lines count as in the file


def _plain(value: Any) -> Any:
    match value:
        case Effect():
            return str(value)
        case tuple():
            return list(value)
        case _:
            return value


def _like(name: str) -> str:
    return re.sub(r"\W+", "_", name.lower()).strip("_0123456789") or "weekly_report"


def parameters_of(schemas: Mapping[str, Mapping[str, Any]]) -> Schemas:
    """Return checked parameters. Raises SavedProgramInvalid."""
    try:
        return Header(description="-", effect=Effect.READ, parameters=dict(schemas)).parameters  # type: ignore[arg-type]
    except ValidationError as error:
        raise SavedProgramInvalid(described(error)) from None
