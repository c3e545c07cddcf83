"""Documents as text: JSON or YAML, read so that everything in them survives as JSON data."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import urldefrag, urljoin

import yaml

from codemode.errors import SourceError
from codemode.sources.loaded import SourceWarning
from codemode.text.yaml import YamlLoader, too_long

if TYPE_CHECKING:
    from collections.abc import Iterable

#: libyaml's composer is recursive and knows no limit: deeper text would end the process. JSON's parser and encoder have
#: limits that depend on the Python that runs; that of 3.11 counts the frames below, so 1,000 are too many.
DEEPEST = 900

_TOO_DEEP = f"nested deeper than {DEEPEST} levels"

#: Values that a YAML text may stand for once each alias is replaced by what it names. No known document has half.
MOST_VALUES = 2_000_000


class _JsonLoader(YamlLoader):
    """YAML 1.2's core schema on PyYAML's parser: dates, `no` and `12:30` stay text, as their authors meant them.

    `repeated` are keys that stand twice in one mapping, with their lines.
    """

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.repeated: list[tuple[str, int]] = []

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:  # noqa: FBT001, FBT002
        """As its parent does, but for what it notes."""
        names = [key.value for key, _ in node.value if key.tag != "tag:yaml.org,2002:merge"]
        if len(set(map(str, names))) != len(names):
            seen: set[str] = set()
            for key, _ in node.value:
                if str(key.value) in seen and key.value != "<<":
                    self.repeated.append((str(key.value), key.start_mark.line + 1))
                seen.add(str(key.value))
        found: dict[Any, Any] = super().construct_mapping(node, deep=deep)
        return found


def _decimal(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> int:
    text = str(loader.construct_scalar(node))
    return int(text, 16) if text[:2].lower() == "0x" else int(text, 8) if text[:2] == "0o" else int(text)


def _text(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> str:
    return str(loader.construct_scalar(node))


_RESOLVERS = (
    ("bool", r"^(?:true|True|TRUE|false|False|FALSE)$", "tTfF"),
    ("int", r"^(?:[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)$", "-+0123456789"),
    ("float", r"^(?:[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?)$", "-+0123456789."),
    ("null", r"^(?:~|null|Null|NULL|)$", ["~", "n", "N", ""]),
    ("merge", r"^(?:<<)$", "<"),
)
_JsonLoader.yaml_implicit_resolvers = {}
for _name, _pattern, _first in _RESOLVERS:
    _JsonLoader.add_implicit_resolver(f"tag:yaml.org,2002:{_name}", re.compile(_pattern), list(_first))
_JsonLoader.add_constructor("tag:yaml.org,2002:int", _decimal)
for _tag in ("timestamp", "binary", "value"):
    _JsonLoader.add_constructor(f"tag:yaml.org,2002:{_tag}", _text)


def parse_document(text: str, *, location: str = "", warnings: list[SourceWarning] | None = None) -> Any:
    """The data of a JSON or YAML text. Raises SourceError with the line where it is neither.

    A key that stands twice in one object has its last value, as with every reader; it is added to `warnings`.
    """
    text = text.removeprefix("\ufeff")
    if text.lstrip()[:1] == "<":
        message = "is a page of HTML or XML and no API document: name the document itself, JSON or YAML"
        raise SourceError(message, location=location)
    if text.lstrip()[:1] in ("{", "["):
        try:
            return _with_whole_characters(_parse_json(text, warnings), text)
        except (ValueError, RecursionError) as error:
            as_json = _TOO_DEEP if isinstance(error, RecursionError) else _why_not_json(error, text)
        try:
            return parse_yaml(text, location=location, warnings=warnings)  # YAML in flow style
        except SourceError:
            message = f"not JSON: {as_json}"
            raise SourceError(message, location=location) from None
    return parse_yaml(text, location=location, warnings=warnings)


#: A number that Python does not read, and what stands around it in JSON.
_LONG_NUMBER = re.compile(r"(?<=[\s:,\[])-?(\d{4301,})(?=[\s,\]}]|\Z)")


def _why_not_json(error: ValueError, text: str) -> str:
    long = None if isinstance(error, json.JSONDecodeError) else _LONG_NUMBER.search(text)
    if long is None:
        return str(error)
    line, column = text.count("\n", 0, long.start()) + 1, long.start() - text.rfind("\n", 0, long.start())
    return f"{too_long(len(long[1]))}: line {line} column {column}"


def _parse_json(text: str, warnings: list[SourceWarning] | None) -> Any:
    repeated: list[tuple[Mapping[str, Any], list[str]]] = []

    def mapping(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) != len(pairs):
            keys = Counter(key for key, _ in pairs)
            repeated.append((made, [key for key, count in keys.items() if count > 1]))
        return made

    document = json.loads(text, parse_constant=_refuse_constant, object_pairs_hook=mapping)
    if _nests_too_deep(document):
        raise ValueError(_TOO_DEEP)
    if repeated and warnings is not None:
        pointers = _pointers(document)
        for holder, keys in repeated:
            warnings.extend(SourceWarning(pointers.get(id(holder), ""), repetition(key)) for key in keys)
    return document


def _nests_too_deep(document: Any) -> bool:
    level = [document]
    for _ in range(DEEPEST + 1):
        level = [part for value in level if isinstance(value, (dict, list)) for part in _parts(value)]
    return bool(level)


def repetition(key: str) -> str:
    """What is said of a key that stands twice in one object."""
    return f"the key {key!r} stands there more than once: what the last one says is used"


def _pointers(document: Any) -> dict[int, str]:
    """The JSON pointer of every mapping of a document that was read from text, by identity."""
    found = {}
    stack = [("", document)]
    while stack:
        pointer, value = stack.pop()
        if isinstance(value, dict):
            found[id(value)] = pointer
            stack.extend((f"{pointer}/{escaped(key)}", item) for key, item in value.items())
        elif isinstance(value, list):
            stack.extend((f"{pointer}/{index}", item) for index, item in enumerate(value))
    return found


def own_uri(document: Any, base: str) -> str:
    """What a document calls itself (OpenAPI 3.2, `$self`), by which it may refer to itself; empty where it does not."""
    own = document.get("$self") if isinstance(document, Mapping) else None
    try:
        return urldefrag(urljoin(base, own))[0] if isinstance(own, str) else ""
    except ValueError:
        return ""


def escaped(segment: str) -> str:
    """A key as a part of a JSON pointer (RFC 6901)."""
    return segment.replace("~", "~0").replace("/", "~1")


def parse_yaml(text: str, *, location: str = "", warnings: list[SourceWarning] | None = None) -> Any:
    """The data of a YAML text, its keys as text. Raises SourceError with the line where it is none."""
    if _is_too_deep(text):
        raise SourceError(_TOO_DEEP, location=location)
    try:
        document = _with_text_keys(_load(text, warnings))
        return _without_bombs(document) if _ALIAS.search(text) is not None else document
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" in line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        reason = getattr(error, "problem", None) or str(error).partition("\n")[0]
        message = f"not JSON or YAML: {reason}{where}"
        raise SourceError(message, location=location) from None
    except (ValueError, RecursionError) as error:
        message = f"not JSON or YAML: {str(error)[:200] or type(error).__name__}"
        raise SourceError(message, location=location) from None


def _load(text: str, warnings: list[SourceWarning] | None) -> Any:
    loader = _JsonLoader(text)
    try:
        document = loader.get_single_data()
    finally:
        loader.dispose()
    if warnings is not None:
        warnings.extend(SourceWarning(f"line {line}", repetition(key)) for key, line in loader.repeated)
    return document


def _refuse_constant(name: str) -> Any:
    message = f"{name} is no JSON number"
    raise ValueError(message)


def _with_whole_characters(document: Any, text: str) -> Any:
    """The document, unless an escape in it is half a character (`\\ud800` alone): that cannot be encoded again."""
    if _SURROGATE.search(text) is not None:
        try:
            json.dumps(document, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            message = "an escape \\ud800 to \\udfff stands alone, which is half a character"
            raise ValueError(message) from None
    return document


_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def _without_bombs(document: Any) -> Any:
    """The document, unless its aliases make it endless or enormous where it is walked as the JSON it stands for."""
    sizes: dict[int, int] = {}
    open_: set[int] = set()
    stack = [(document, False)]
    while stack:
        value, is_counted = stack.pop()
        if is_counted:
            open_.discard(id(value))
            sizes[id(value)] = 1 + sum(sizes.get(id(part), 1) for part in _parts(value))
            if sizes[id(value)] > MOST_VALUES:
                message = f"its aliases make more than {MOST_VALUES:,} values of it"
                raise ValueError(message)
        elif id(value) in open_:
            message = "an alias stands inside of what it names, which has no end; a $ref may do that"
            raise ValueError(message)
        elif isinstance(value, (dict, list)) and id(value) not in sizes:
            open_.add(id(value))
            stack.append((value, True))
            stack.extend((part, False) for part in _parts(value) if isinstance(part, (dict, list)))
    return document


#: Whatever may be an alias in a YAML text, and some emphasis in Markdown.
_ALIAS = re.compile(r"(?:^|[\s\[{,])\*\w")


def _parts(value: Any) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value


def _is_too_deep(text: str) -> bool:
    """Whether brackets, indicators or indentation may nest too deep; an upper bound, found without parsing."""
    depth = 0
    for bracket in _BRACKET.finditer(text):
        depth = depth + 1 if bracket[0] in "[{" else max(0, depth - 1)
        if depth > DEEPEST:
            return True
    has_indicators = any(pair in text for pair in ("- - ", "- ? ", "? - ", "? ? "))
    return " " * DEEPEST in text or (has_indicators and _INDICATORS.search(text) is not None)


_BRACKET = re.compile(r"[\[\]{}]")
_INDICATORS = re.compile(rf"(?:[-?:][ \t]+){{{DEEPEST}}}")


def _with_text_keys(document: Any) -> Any:
    """Integer and boolean keys (`200:`, `on:`) become text, in place; shared parts (anchors) are visited once."""
    seen: set[int] = set()
    stack = [document]
    while stack:
        value = stack.pop()
        if not isinstance(value, (dict, list)) or id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, dict):
            if not all(isinstance(key, str) for key in value):
                items = [(_key_text(key), item) for key, item in value.items()]
                value.clear()
                value.update(items)
            stack.extend(value.values())
        else:
            stack.extend(value)
    return document


def _key_text(key: Any) -> str:
    if key is None:
        return "null"
    return str(key).lower() if isinstance(key, bool) else str(key)
