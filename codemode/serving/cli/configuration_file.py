"""Edit `codemode.yaml` in place: only the lines of one source change, and comments are kept."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

from codemode.errors import ConfigurationError
from codemode.settings import yaml_message
from codemode.text.nearest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

_INDENT = "  "
_WIDTH = 10_000  # characters of a line: keys such as `POST /path` stay whole

#: The section that entries go into by default.
SOURCES = "sources"


def read(file: Path) -> str:
    """Return the text of a configuration, or "" if there is no file. Raises ConfigurationError."""
    try:
        return file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        message = f"cannot read the configuration {file}: {reason}"
        raise ConfigurationError(message) from None


def write(file: Path, text: str) -> None:
    """Replace a configuration atomically. Raises ConfigurationError."""
    target = file.resolve()
    try:
        with tempfile.NamedTemporaryFile("w", dir=target.parent, delete=False, encoding="utf-8") as new:
            new.write(text)
        target.touch()  # a new file gets the user's default permissions
        shutil.copymode(target, new.name)
        Path(new.name).replace(target)
    except OSError as error:
        message = f"cannot write the configuration {file}: {error.strerror}"
        raise ConfigurationError(message) from None


def with_source(text: str, name: str, entry: Mapping[str, Any], *, section: str = SOURCES) -> str:
    """Return the text with a source added. Raises ConfigurationError if the name is taken or the text invalid.

    `section` is the key of the mapping that the entry goes into.
    """
    sources = _entries(text, section)
    block = _block(name, entry)
    if sources is None:
        empty = _empty_section(text, section)
        if empty is not None:
            lines = f"{text}\n".splitlines(keepends=True)
            at, start, end = empty.end_mark.line, empty.start_mark.column, empty.end_mark.column
            head = lines[at][:start] + lines[at][end:]
            return "".join([*lines[:at], head, _shifted(block, _INDENT), *lines[at + 1 :]])
        before = text if not text or text.endswith("\n") else f"{text}\n"
        return f"{before}{section}:\n{_shifted(block, _INDENT)}"
    if any(key.value == name for key, _ in sources.value):
        message = f"source {name!r} already exists; remove it first, or choose another name"
        raise ConfigurationError(message)
    if sources.flow_style or not sources.value:
        message = f"{section} is written in {{}} on one line: write it as a block, one source below the other"
        raise ConfigurationError(message)
    lines = text.splitlines(keepends=True)
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n"
    at = _end(sources.value[-1][1], lines)
    return "".join([*lines[:at], _shifted(block, " " * sources.start_mark.column), *lines[at:]])


def with_effects(text: str, name: str, effects: Mapping[str, str]) -> str:
    """Return the text with effects added to a source, after those that it has. Raises ConfigurationError.

    A source or an `effect` that is written in {} on one line becomes a block.
    """
    sources = _entries(text, SOURCES)
    pairs = [] if sources is None else sources.value
    source = next((value for key, value in pairs if key.value == name), None)
    if sources is None or source is None:
        raise no_source(name, [key.value for key, _ in pairs])
    if sources.flow_style or not isinstance(source, yaml.MappingNode):
        message = f"{SOURCES} is written in {{}} on one line: write it as a block, one source below the other"
        raise ConfigurationError(message)
    lines = text.splitlines(keepends=True)
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += "\n"
    known = next((value for key, value in source.value if key.value == "effect"), None)
    column = sources.start_mark.column + len(_INDENT)
    if source.flow_style:
        data = yaml.safe_load(text)[SOURCES][name]
        return _replaced(lines, source, {**data, "effect": {**data.get("effect", {}), **effects}}, column)
    if known is None:
        block = yaml.safe_dump({"effect": dict(effects)}, sort_keys=False, allow_unicode=True, width=_WIDTH)
        at, column = _end(source, lines), source.start_mark.column
    elif known.flow_style or not known.value:
        data = yaml.safe_load(text)[SOURCES][name]["effect"] or {}
        return _replaced(lines, known, {**data, **effects}, source.start_mark.column + len(_INDENT))
    else:
        block = yaml.safe_dump(dict(effects), sort_keys=False, allow_unicode=True, width=_WIDTH)
        at, column = _end(known, lines), known.start_mark.column
    return "".join([*lines[:at], _shifted(block, " " * column), *lines[at:]])


def _replaced(lines: list[str], node: yaml.Node, data: Mapping[str, Any], column: int) -> str:
    """Return the text with a value in {} written as a block below its key."""
    start, end = node.start_mark, node.end_mark
    block = yaml.safe_dump(dict(data), sort_keys=False, allow_unicode=True, default_flow_style=False, width=_WIDTH)
    before, after = lines[start.line][: start.column].rstrip(), lines[end.line][end.column :].strip()
    head = f"{before}  {after}\n" if after else f"{before}\n"  # a comment behind it
    return "".join([*lines[: start.line], head, _shifted(block, " " * column), *lines[end.line + 1 :]])


def without_source(text: str, name: str, *, section: str = SOURCES) -> str:
    """Return the text without a source. Raises ConfigurationError if there is none of that name."""
    sources = _entries(text, section)
    pairs = [] if sources is None else sources.value
    found = next(((key, value) for key, value in pairs if key.value == name), None)
    if found is None:
        raise no_source(name, [key.value for key, _ in pairs])
    key, value = found
    lines = text.splitlines(keepends=True)
    return "".join([*lines[: key.start_mark.line], *lines[_end(value, lines) :]])


def source_names(text: str) -> tuple[str, ...]:
    """Return the names of the sources in a configuration. Raises ConfigurationError."""
    sources = _entries(text, SOURCES)
    return () if sources is None else tuple(key.value for key, _ in sources.value)


def no_source(name: str, known: Collection[str]) -> ConfigurationError:
    """Return the error for an unknown source name."""
    there = f"there are: {', '.join(known) or 'none'}"
    return ConfigurationError(f"there is no source {name!r}; {there}{did_you_mean(name, known)}")


def _entries(text: str, section: str) -> yaml.MappingNode | None:
    try:
        root = yaml.compose(text)
    except yaml.YAMLError as error:
        message = f"the configuration is not YAML: {yaml_message(error)}"
        raise ConfigurationError(message) from None
    if root is None:
        return None
    if not isinstance(root, yaml.MappingNode):
        message = f"the configuration is not a YAML mapping: it should begin with `{section}:`"
        raise ConfigurationError(message)
    node = next((value for key, value in root.value if key.value == section), None)
    return node if isinstance(node, yaml.MappingNode) else None


def _empty_section(text: str, section: str) -> yaml.Node | None:
    """Return the null that a section is, None if there is no section. Raises ConfigurationError for anything else."""
    root = yaml.compose(text)
    if not isinstance(root, yaml.MappingNode):
        return None
    if root.flow_style:
        message = "the configuration is written in {}, as JSON: write it as a block, one key below the other"
        raise ConfigurationError(message)
    node: yaml.Node | None = next((value for key, value in root.value if key.value == section), None)
    if node is not None and not node.tag.endswith(":null"):
        message = f"{section} is not a mapping of names to entries: correct it first"
        raise ConfigurationError(message)
    return node


def _end(node: yaml.Node, lines: list[str]) -> int:
    """Return the line after a node. Trailing blank lines and comments belong to the next node."""
    last: yaml.Node = node
    while isinstance(last, yaml.CollectionNode) and last.value and not last.flow_style:
        item = last.value[-1]
        last = item[1] if isinstance(item, tuple) else item
    end = last.end_mark.line + (1 if last.end_mark.column else 0)
    return min(max(end, last.start_mark.line + 1), len(lines))


def _block(name: str, entry: Mapping[str, Any]) -> str:
    return yaml.safe_dump({name: dict(entry)}, sort_keys=False, allow_unicode=True, default_flow_style=False)


def _shifted(block: str, indent: str) -> str:
    return "".join(indent + line for line in block.splitlines(keepends=True))
