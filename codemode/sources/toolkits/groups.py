"""Read toolkits: groups of function schemas, each with a description and instructions (JSON or YAML)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from codemode.catalog.toolkit import Toolkit
from codemode.sources.loaded import SourceWarning
from codemode.sources.toolkits.function_tools import described, texts
from codemode.text.nearest import did_you_mean

if TYPE_CHECKING:
    from codemode.sources.functions.described import Descriptions, Document

_KEYS = ("name", "tier", "description", "keywords", "tasks", "instructions", "examples")


def is_toolkits(data: Any) -> bool:
    """Whether the data is a toolkit, a list of toolkits, or has such a list under `toolkits`."""
    first = next(iter(_toolkit_list(data)), None)
    return isinstance(first, Mapping) and isinstance(first.get("tasks"), list)


def read_toolkits(document: Document, descriptions: Descriptions, *, source: str) -> None:
    """Add the toolkits of a document to `descriptions`. Raises SourceError with the line of an invalid one."""
    is_one = isinstance(document.data, Mapping) and "tasks" in document.data
    key: tuple[str, ...] = ("toolkits",) if isinstance(document.data, Mapping) and not is_one else ()
    for number, toolkit in enumerate(_toolkit_list(document.data)):
        _read(document, toolkit, () if is_one else (*key, number), descriptions, source)


def _read(
    document: Document, toolkit: Any, path: tuple[str | int, ...], descriptions: Descriptions, source: str
) -> None:
    tasks = toolkit.get("tasks") if isinstance(toolkit, Mapping) else None
    if not isinstance(tasks, list) or not isinstance(toolkit.get("name"), str) or not toolkit["name"]:
        raise document.error("a toolkit must have a name and tasks, a list of function schemas", *path)
    for key in toolkit.keys() - set(_KEYS):
        reason = f"{key!r} is not a key of toolkits{did_you_mean(key, _KEYS) or ';'} known: {', '.join(_KEYS)}"
        descriptions.warnings.append(SourceWarning(document.where(*path, key), reason))
    parsed = Toolkit(
        name=toolkit["name"],
        source=source,
        tier=_text(document, toolkit, "tier", path),
        description=_text(document, toolkit, "description", path),
        keywords=texts(document, toolkit.get("keywords") or (), *path, "keywords"),
        instructions=_text(document, toolkit, "instructions", path),
        examples=_examples(document, toolkit.get("examples") or (), *path, "examples"),
    )
    keys = set()
    for number, task in enumerate(tasks):
        task_path = (*path, "tasks", number)
        tool = replace(
            described(document, task, task_path),
            toolkit=parsed.name,
            tier=parsed.tier,
            keywords=(*parsed.keywords, parsed.description),
        )
        descriptions.tools.append(tool)
        keys.add(tool.key)
    descriptions.toolkits.append(replace(parsed, tools=frozenset(keys)))


def _examples(document: Document, value: Any, *path: str | int) -> tuple[str, ...]:
    """Return examples as strings. Objects, such as a message with its calls, become JSON."""
    values = value if isinstance(value, (list, tuple)) else [value]
    examples = [json.dumps(one, ensure_ascii=False) if isinstance(one, Mapping) else one for one in values]
    return texts(document, examples, *path)


def _toolkit_list(data: Any) -> list[Any]:
    if isinstance(data, Mapping):
        data = [data] if "tasks" in data else data.get("toolkits")
    return data if isinstance(data, list) else []


def _text(document: Document, toolkit: Mapping[str, Any], key: str, path: tuple[str | int, ...]) -> str:
    value = toolkit.get(key)
    if value is not None and not isinstance(value, str):
        message = f"the {key} of a toolkit must be a string"
        raise document.error(message, *path, key)
    return value or ""
