"""Parse JSON and YAML texts as JSON data, without loss."""

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

#: The deepest nesting. libyaml's composer recurses without limit, so deeper text would crash the process. The limit of
#: Python's JSON parser depends on the version: 3.11 counts the caller's frames, so 1,000 levels are too many.
DEEPEST = 900

_TOO_DEEP = f"nested deeper than {DEEPEST} levels"

#: The most values of a YAML text with all aliases expanded. The largest known document has less than half.
MOST_VALUES = 2_000_000


class _JsonLoader(YamlLoader):
    """Load YAML 1.2's core schema with PyYAML's parser: dates, `no` and `12:30` stay strings.

    `repeated` lists the keys that occur twice in one mapping, with their lines.
    """

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.repeated: list[tuple[str, int]] = []

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:  # noqa: FBT001, FBT002
        """Construct a mapping and record its repeated keys."""
        names = [key.value for key, _ in node.value if key.tag != "tag:yaml.org,2002:merge"]
        if len(set(map(str, names))) != len(names):
            seen: set[str] = set()
            for key, _ in node.value:
                if str(key.value) in seen and key.value != "<<":
                    self.repeated.append((str(key.value), key.start_mark.line + 1))
                seen.add(str(key.value))
        mapping: dict[Any, Any] = super().construct_mapping(node, deep=deep)
        return mapping


def _integer(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> int:
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
_JsonLoader.add_constructor("tag:yaml.org,2002:int", _integer)
for _tag in ("timestamp", "binary", "value"):
    _JsonLoader.add_constructor(f"tag:yaml.org,2002:{_tag}", _text)


def parse_document(text: str, *, location: str = "", warnings: list[SourceWarning] | None = None) -> Any:
    """Parse a JSON or YAML text. Raises SourceError with the line if it is neither.

    A repeated key keeps its last value, as in other parsers, and is added to `warnings`.
    """
    text = text.removeprefix("\ufeff")
    if text.lstrip()[:1] == "<":
        message = "is an HTML or XML page, not an API document: use the location of the JSON or YAML document"
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


#: A number with too many digits for Python, between JSON delimiters.
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
        parsed = dict(pairs)
        if len(parsed) != len(pairs):
            keys = Counter(key for key, _ in pairs)
            repeated.append((parsed, [key for key, count in keys.items() if count > 1]))
        return parsed

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
    """Return the warning for a key that occurs more than once in one object."""
    return f"the key {key!r} occurs more than once: its last value is used"


def _pointers(document: Any) -> dict[int, str]:
    """Return the JSON pointer of every mapping in a document, by `id`."""
    pointers = {}
    stack = [("", document)]
    while stack:
        pointer, value = stack.pop()
        if isinstance(value, dict):
            pointers[id(value)] = pointer
            stack.extend((f"{pointer}/{escaped(key)}", item) for key, item in value.items())
        elif isinstance(value, list):
            stack.extend((f"{pointer}/{index}", item) for index, item in enumerate(value))
    return pointers


def own_uri(document: Any, base: str) -> str:
    """Return the URI that a document declares for itself (OpenAPI 3.2, `$self`), or an empty string."""
    own = document.get("$self") if isinstance(document, Mapping) else None
    try:
        return urldefrag(urljoin(base, own))[0] if isinstance(own, str) else ""
    except ValueError:
        return ""


def escaped(segment: str) -> str:
    """Escape a key for a JSON pointer (RFC 6901)."""
    return segment.replace("~", "~0").replace("/", "~1")


def parse_yaml(text: str, *, location: str = "", warnings: list[SourceWarning] | None = None) -> Any:
    """Parse a YAML text. All keys become strings. Raises SourceError with the line if it is not YAML."""
    if _is_too_deep(text):
        raise SourceError(_TOO_DEEP, location=location)
    try:
        document = _with_text_keys(_load(text, warnings))
        return _with_bounded_aliases(document) if _ALIAS.search(text) is not None else document
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
    message = f"{name} is not a JSON number"
    raise ValueError(message)


def _with_whole_characters(document: Any, text: str) -> Any:
    """Return the document. Raises ValueError for a lone surrogate (`\\ud800`), which cannot be encoded."""
    if _SURROGATE.search(text) is not None:
        try:
            json.dumps(document, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            message = "an escape from \\ud800 to \\udfff is not part of a surrogate pair"
            raise ValueError(message) from None
    return document


_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def _with_bounded_aliases(document: Any) -> Any:
    """Return the document. Raises ValueError if its expanded aliases are endless or too large."""
    sizes: dict[int, int] = {}
    open_: set[int] = set()
    stack = [(document, False)]
    while stack:
        value, is_counted = stack.pop()
        if is_counted:
            open_.discard(id(value))
            sizes[id(value)] = 1 + sum(sizes.get(id(part), 1) for part in _parts(value))
            if sizes[id(value)] > MOST_VALUES:
                message = f"its aliases expand to more than {MOST_VALUES:,} values"
                raise ValueError(message)
        elif id(value) in open_:
            message = "an alias is inside its own anchor, so it expands without end: use a $ref"
            raise ValueError(message)
        elif isinstance(value, (dict, list)) and id(value) not in sizes:
            open_.add(id(value))
            stack.append((value, True))
            stack.extend((part, False) for part in _parts(value) if isinstance(part, (dict, list)))
    return document


#: A possible alias in a YAML text. Some Markdown emphasis matches too.
_ALIAS = re.compile(r"(?:^|[\s\[{,])\*\w")


def _parts(value: Any) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value


def _is_too_deep(text: str) -> bool:
    """Whether brackets, indicators or indentation may nest too deep. Overestimates, and does not parse."""
    depth = 0
    for bracket in _BRACKET.finditer(text):
        depth = depth + 1 if bracket[0] in "[{" else max(0, depth - 1)
        if depth > DEEPEST:
            return True
    has_indicators = any(pair in text for pair in ("- - ", "- ? ", "? - ", "? ? "))
    if " " * DEEPEST in text:
        return True
    return has_indicators and any(len(run[0].split()) >= DEEPEST for run in _INDICATORS.finditer(text))


_BRACKET = re.compile(r"[\[\]{}]")
#: Indicators in a row. Each opens a level.
_INDICATORS = re.compile(r"(?:[-?:][ \t]++)++")


def _with_text_keys(document: Any) -> Any:
    """Convert integer and boolean keys (`200:`, `on:`) to strings in place. Visits shared parts (anchors) once."""
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
