"""Navigate JSON Schemas within their documents, and follow references.

Schemas are not copied or inlined. A `Graph` holds a document and its references; a `Schema` is a cursor in it. The
library `referencing` resolves references. Each one is resolved once and cached.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from typing import Any
from urllib.parse import unquote, urldefrag, urljoin

from referencing import Registry, Specification
from referencing.exceptions import Unresolvable

#: The longest chain of references. A longer one is circular: the longest in published documents is 4.
LONGEST_CHAIN = 32


_EMPTY: Registry[Any] = Registry()


class Dialect(StrEnum):
    """The rules of a schema, by the version of its document."""

    SWAGGER_2_0 = "2.0"
    OPENAPI_3_0 = "3.0"
    OPENAPI_3_1 = "3.1"  # and 3.2: JSON Schema 2020-12
    JSON_SCHEMA = "2020-12"

    @property
    def is_legacy(self) -> bool:
        """Whether `nullable`, boolean `exclusiveMinimum` and ignored siblings of `$ref` apply (before OpenAPI 3.1)."""
        return self is Dialect.OPENAPI_3_0 or self is Dialect.SWAGGER_2_0


class Graph:
    """The schemas of a document and of the documents that it refers to.

    `retrieve` returns the data of another document by its URI, or None. Without it, external references are dangling.
    A graph is immutable except for its caches.
    """

    __slots__ = (
        "_followed",
        "_merged",
        "_recursive",
        "_registry",
        "_retrieve",
        "checks",
        "dangling",
        "dialect",
        "validators",
    )

    def __init__(
        self, document: Any, dialect: Dialect, *, uri: str = "", retrieve: Callable[[str], Any] | None = None
    ) -> None:
        self._registry: Registry[Any] = _EMPTY.with_resource(uri, Specification.OPAQUE.create_resource(document))
        self._retrieve = retrieve
        self.dialect = dialect
        self.dangling: set[tuple[str, str]] = set()  # (document, reference) pairs without a target
        self._followed: dict[tuple[str, str], Schema | None] = {}
        self._merged: dict[tuple[int, ...], tuple[list[Any], Any]] = {}
        self._recursive: dict[str, list[Any]] = {}
        self.validators: dict[str, Any] = {}  # made by codemode.catalog.validation, by document
        self.checks: dict[tuple[str, int], Any] = {}  # made by codemode.catalog.checks, by place of the schema

    @classmethod
    def of(cls, document: Any, *, dialect: Dialect = Dialect.JSON_SCHEMA, uri: str = "") -> Graph:
        """Return the graph of one document without external references."""
        return cls(document, dialect, uri=uri)

    def follow(self, reference: str, base: str) -> Schema | None:
        """Return the target of a reference in the document `base`, or None."""
        key = (base, reference)
        if key not in self._followed:
            self._followed[key] = self._look_up(reference, base)
        return self._followed[key]

    def enclosing(self, value: Mapping[str, Any], base: str) -> Schema | None:
        """Return the schema with `$recursiveAnchor` around `value`, the target of `$recursiveRef` (draft 2019-09)."""
        for candidate in self._recursive_anchors(base):
            if any(part is value for part in walk(candidate)):
                return Schema(candidate, self, base)
        return None

    def merged(self, declared: list[Any], values: list[Any] | None = None) -> Any:
        """Return the `allOf` of the declarations, with `values` as its `enum`.

        Returns the same object for the same declarations.
        """
        key = (*map(id, declared), id(values))
        if key not in self._merged:
            made = {"allOf": declared} if values is None else {"allOf": declared, "enum": values}
            self._merged[key] = ([*declared, values], made)  # keeps the objects alive, so their `id` is not reused
        return self._merged[key][1]

    def _look_up(self, reference: str, base: str) -> Schema | None:
        is_local = reference.startswith("#")
        try:
            uri, fragment = (base, reference[1:]) if is_local else urldefrag(urljoin(base, reference))
            if not self._holds(uri):
                self.dangling.add((base, reference))
                return None
            if fragment and not fragment.startswith("/"):
                return self._anchor(fragment, uri)
            found = self._registry.resolver(base_uri=base).lookup(reference)
        except (Unresolvable, ValueError, TypeError):  # a pointer that steps into a leaf, a broken URL
            self.dangling.add((base, reference))
            return None
        return Schema(found.contents, self, uri, _component_name(fragment, uri))

    def _holds(self, uri: str) -> bool:
        if uri in self._registry:
            return True
        document = self._retrieve(uri) if self._retrieve is not None else None
        if document is None:
            return False
        self._registry = self._registry.with_resource(uri, Specification.OPAQUE.create_resource(document))
        return True

    def _anchor(self, name: str, uri: str) -> Schema | None:
        document = self._registry.resolver(base_uri=uri).lookup("#").contents
        for part in walk(document):
            if name in (part.get("$anchor"), part.get("$dynamicAnchor")):
                return Schema(part, self, uri, name)
        return None

    def _recursive_anchors(self, base: str) -> list[Any]:
        if base not in self._recursive:
            root = self.follow("#", base)
            parts = walk(root.value) if root else iter(())
            self._recursive[base] = [part for part in parts if part.get("$recursiveAnchor") is True]
        return self._recursive[base]


class Schema:
    """A JSON Schema in its document. `name` is the component name if it was reached by a reference."""

    __slots__ = ("base", "graph", "name", "value")

    def __init__(self, value: Any, graph: Graph, base: str = "", name: str = "") -> None:
        self.value: Any = value
        self.graph = graph
        self.base = base
        self.name = name

    @classmethod
    def of(cls, value: Any, *, dialect: Dialect = Dialect.JSON_SCHEMA) -> Schema:
        """Return a self-contained schema, as MCP servers and Python functions declare them."""
        return cls(value, Graph.of(value, dialect=dialect))

    def __repr__(self) -> str:
        return f"Schema({self.name or self.value!r})"

    def at(self, value: Any) -> Schema:
        """Return a cursor on another part of the same document."""
        return Schema(value, self.graph, self.base)

    def get(self, key: str, default: Any = None) -> Any:
        """Return the value of a keyword, or `default` if it is missing or the schema is a boolean."""
        value = self.value
        if type(value) is dict or isinstance(value, Mapping):  # the first test is faster
            return value.get(key, default)
        return default

    @property
    def reference(self) -> str | None:
        """The value of `$ref`, `$dynamicRef` or `$recursiveRef`, or None."""
        reference = self.get("$ref")
        if reference is None and not self.graph.dialect.is_legacy:
            reference = self.get("$dynamicRef") or self.get("$recursiveRef")
        return reference if isinstance(reference, str) else None

    def target(self) -> Schema | None:
        """Follow the reference by one step. None if there is no reference or no target."""
        reference = self.reference
        if reference is None:
            return None
        if "$recursiveRef" in self.value:
            return self.graph.enclosing(self.value, self.base)
        return self.graph.follow(reference, self.base)

    def resolved(self) -> Schema:
        """Follow all references. Returns the schema `true` for a dangling or circular one."""
        schema = self
        for _ in range(LONGEST_CHAIN):
            if schema.reference is None:
                return schema
            if not schema.graph.dialect.is_legacy and len(schema.value) > 1 and _has_own_shape(schema.value):
                return schema  # siblings of $ref count: `conjuncts` reads both
            following = schema.target()
            if following is None:
                break
            schema = following
        return Schema(True, self.graph, self.base)

    def conjuncts(self) -> Iterator[Schema]:
        """Yield every schema that applies: this one, its target, and the members of `allOf`, each once."""
        seen: set[int] = set()
        stack = [self]
        while stack:
            schema = stack.pop()
            if id(schema.value) in seen or not isinstance(schema.value, Mapping):
                continue
            seen.add(id(schema.value))
            target = schema.target()
            if target is not None:
                stack.append(target)
                if schema.graph.dialect.is_legacy:
                    continue  # siblings of $ref are ignored before 3.1
            yield schema
            members = schema.get("allOf")
            if isinstance(members, list):
                stack.extend(schema.at(member) for member in reversed(members))

    def properties(self) -> dict[str, Schema]:
        """Return the properties of the object, including those of `allOf`.

        If several members of an `allOf` declare a property, all declarations apply. `readOnly` declarations are dropped
        if there are others.
        """
        found: dict[str, Schema] = {}
        repeated: dict[str, list[Schema]] = {}
        for part in self.conjuncts():
            declared = part.get("properties")
            holder = part
            if isinstance(declared, Mapping) and isinstance(
                declared.get("$ref"), str
            ):  # a reference to the whole table
                holder = part.at(declared).resolved()
                declared = holder.value
            if isinstance(declared, Mapping):
                for name, value in declared.items():
                    if str(name) in found:
                        repeated.setdefault(str(name), [found[str(name)]]).append(holder.at(value))
                    else:
                        found[str(name)] = holder.at(value)
        for name, declarations in repeated.items():
            found[name] = _merged_property(declarations)
        return found

    def required(self) -> frozenset[str]:
        """Return the names of the required properties."""
        names: set[str] = set()
        for part in self.conjuncts():
            declared = part.get("required")
            if isinstance(declared, list):
                names.update(name for name in declared if isinstance(name, str))
        return frozenset(names)

    def first(self, key: str) -> Any:
        """Return the first value of a keyword among all schemas that apply, or None."""
        own = self.get(key)
        if own is not None:
            return own
        return next((value for part in self.conjuncts() if (value := part.get(key)) is not None), None)

    def types(self) -> tuple[str, ...]:
        """Return the JSON types without `null`. If `type` is missing, they are derived from other keywords."""
        for part in self.conjuncts():
            declared = part.get("type")
            names = declared if isinstance(declared, list) else [declared]
            found = tuple(name for name in names if isinstance(name, str) and name != "null")
            if found:
                return found
        return self._implied_types()

    def _implied_types(self) -> tuple[str, ...]:
        for part in self.conjuncts():
            if any(key in part.value for key in ("properties", "additionalProperties", "patternProperties")):
                return ("object",)
            if any(key in part.value for key in ("items", "prefixItems")):
                return ("array",)
        return ()

    def is_file(self) -> bool:
        """Whether a value is the bytes of a file: `format: binary`, or from OpenAPI 3.1 on `contentMediaType` alone.

        Text and JSON in a string are no files.
        """
        if self.first("format") == "binary" or "file" in self.types():
            return True
        media_type = str(self.first("contentMediaType") or "text/plain")
        is_text = media_type.startswith("text/") or "json" in media_type
        return not is_text and self.first("contentEncoding") is None

    def is_json_text(self) -> bool:
        """Whether a string holds JSON, by its `contentMediaType`."""
        return "json" in str(self.first("contentMediaType") or "") and self.first("contentEncoding") is None

    def is_nullable(self) -> bool:
        """Whether null is allowed, in any dialect."""
        if says_nullable(self.value):
            return True
        for part in self.conjuncts():
            declared = part.get("type")
            if says_nullable(part.value) or declared == "null" or (isinstance(declared, list) and "null" in declared):
                return True
            enum = part.get("enum")
            if isinstance(enum, list) and None in enum and declared is None:
                return True
            if any(option.is_nullable() for option in part.variants()):
                return True
        return False

    def listed(self) -> list[Any]:
        """Return the values of `enum`. Empty if it applies to the items of an array, as often intended."""
        values = self.first("enum")
        if not isinstance(values, list) or self.lists_items(values):
            return []
        return values

    def lists_items(self, values: list[Any]) -> bool:
        """Whether values of `enum` apply to the items: the schema is an array, and no value is a list."""
        return self.types() == ("array",) and not any(isinstance(value, list) for value in values)

    def items(self) -> Schema | None:
        """Return the schema of the items, with all declarations merged, or None."""
        declared = [value for part in self.conjuncts() if isinstance(value := part.get("items"), Mapping)]
        values = self.first("enum")
        if isinstance(values, list) and self.lists_items(values):
            return self.at(self.graph.merged(declared, values))
        if not declared:
            return None
        return self.at(declared[0] if len(declared) == 1 else self.graph.merged(declared))

    def variants(self) -> tuple[Schema, ...]:
        """Return the members of `oneOf` or `anyOf`. Empty if no member can have the `type` beside them."""
        for keyword in ("oneOf", "anyOf"):
            members = self.get(keyword)
            if isinstance(members, list) and members:
                found = tuple(self.at(member) for member in members)
                return () if self._contradicts(found) else found
        return ()

    def _contradicts(self, members: tuple[Schema, ...]) -> bool:
        own = self.get("type")
        if not isinstance(own, str) or own not in ("array", "object"):
            return False
        kinds = [member.resolved().types() for member in members]
        return all(kind and own not in kind for kind in kinds)


def _merged_property(declarations: list[Schema]) -> Schema:
    """Merge the declarations of one property. Across documents the first wins: references resolve in one document."""
    sendable = [schema for schema in declarations if schema.first("readOnly") is not True] or declarations
    distinct = list({id(schema.value): schema for schema in sendable}.values())
    if len(distinct) == 1 or len({schema.base for schema in distinct}) > 1:
        return distinct[0]
    return distinct[0].at(distinct[0].graph.merged([schema.value for schema in distinct]))


def either(schemas: list[Schema]) -> Schema:
    """Return a schema that allows what any of these allows."""
    distinct = list({id(schema.value): schema for schema in schemas}.values())
    if len(distinct) == 1:
        return distinct[0]
    if len({schema.base for schema in distinct}) > 1:  # their references resolve in different documents
        return distinct[0].at(True)
    return distinct[0].at({"anyOf": [schema.value for schema in distinct]})


def says_nullable(schema: Any) -> bool:
    """Whether a schema has `nullable: true` (OpenAPI 3.0), or its extension for Swagger 2.0."""
    return isinstance(schema, Mapping) and (schema.get("nullable") is True or schema.get("x-nullable") is True)


def walk(value: Any) -> Iterator[Mapping[str, Any]]:
    """Yield every mapping in a JSON value once, including the value itself."""
    seen: set[int] = set()
    stack = [value]
    while stack:
        part = stack.pop()
        if not isinstance(part, (Mapping, list)) or id(part) in seen:
            continue
        seen.add(id(part))
        if isinstance(part, Mapping):
            yield part
            stack.extend(part.values())
        else:
            stack.extend(part)


_ANNOTATIONS = frozenset(
    (
        "$ref",
        "description",
        "title",
        "default",
        "example",
        "examples",
        "deprecated",
        "readOnly",
        "writeOnly",
        "nullable",
    )
)


def _has_own_shape(value: Mapping[str, Any]) -> bool:
    return any(key not in _ANNOTATIONS and not key.startswith("x-") for key in value)


def _component_name(fragment: str, uri: str) -> str:
    if fragment:
        last = unquote(fragment).rpartition("/")[2].replace("~1", "/").replace("~0", "~")
    else:
        last = uri.rpartition("/")[2].partition(".")[0]
    return "" if last.isdigit() else last
