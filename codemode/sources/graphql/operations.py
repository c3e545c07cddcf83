"""Find the operations of a GraphQL schema, also mutations that sit below the root: `mutation { pages { delete } }`.

The specification knows mutations at the root only. Many services group them in objects, or offer them on what another
mutation returns. A type that only mutations reach, and whose fields take arguments or are named by a verb of change, is
such a group. Its fields are operations; what reads are data.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from graphql import (
    GraphQLInterfaceType,
    GraphQLList,
    GraphQLNonNull,
    GraphQLObjectType,
    GraphQLUnionType,
    get_named_type,
    is_composite_type,
    is_leaf_type,
)

from codemode.catalog.change_words import reads_by_name, verb_of_change
from codemode.catalog.effect_table import HOMOGRAPHS
from codemode.catalog.effect_words import destructive_word
from codemode.catalog.effects import Judgement, judge
from codemode.catalog.tool import Effect

if TYPE_CHECKING:
    from collections.abc import Iterator

    from graphql import GraphQLField, GraphQLNamedType, GraphQLSchema

#: The most nested mutations that become tools, and the most objects on the way to one.
MOST_NESTED, DEEPEST = 5_000, 6

#: How authors call the types that group mutations.
_GROUP_NAME = re.compile(
    r"(?:mutations?|mutator|operations?|ops|commands?|actions?)(?:type|group|namespace)?$", re.IGNORECASE
)

#: Fields of Boolean type that report, and do nothing.
_REPORT = re.compile(
    r"^_|^(?:ok|success\w*|succeeded|error\w*|valid|done|(?:is|has|can|was|viewer|in|are)(?:[A-Z_].*)?)$"
)

#: Verbs that are often the nouns of data: `order(id)`, `release(tag)`.
_NOUNS = HOMOGRAPHS - {"edit", "set", "update", "write"}

#: Arguments that page or order a list.
_LIST_ARGUMENTS = frozenset(
    ("after", "before", "filter", "first", "last", "limit", "offset", "order", "orderBy", "page", "skip", "sort",
     "take", "where")
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Operation:
    """A field to call, and the fields above it from the root on. `path` holds the groups and the name of its id."""

    kind: str
    steps: tuple[tuple[str, GraphQLField], ...]
    path: tuple[str, ...]
    effect: Judgement

    @property
    def field(self) -> GraphQLField:
        """The field to call."""
        return self.steps[-1][1]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the fields from the root on."""
        return tuple(name for name, _ in self.steps)

    @property
    def key(self) -> str:
        """The identity of the operation in its source."""
        return "/".join(self.path)


class Operations:
    """The operations of a schema, and what selecting a field does."""

    def __init__(self, schema: GraphQLSchema) -> None:
        self._schema = schema
        self._mutation = schema.mutation_type
        self._left = MOST_NESTED
        self._judged: dict[tuple[str, str, str], Judgement] = {}
        self.is_cut = False

    def type(self, name: str) -> Any:
        """Return the type with a name, or None."""
        return self._schema.get_type(name)

    @cached_property
    def all(self) -> tuple[Operation, ...]:
        """All operations: queries, and mutations with the nested ones. `is_cut` if there are more than is bounded."""
        query = self._schema.query_type
        reads = [
            Operation("query", ((name, field),), ("queries", name), self.judgement("query", query, name, field))
            for name, field in (query.fields.items() if query else ())
        ]
        return (*reads, *self._mutations())

    @cached_property
    def by_field(self) -> dict[tuple[str, str], tuple[Operation, ...]]:
        """The mutations by the name of the type and of the field."""
        found: dict[tuple[str, str], tuple[Operation, ...]] = {}
        for one in self.all:
            if one.kind == "mutation":
                parent: Any = self._mutation if len(one.steps) == 1 else get_named_type(one.steps[-2][1].type)
                key = (parent.name, one.steps[-1][0])
                found[key] = (*found.get(key, ()), one)
        return found

    @cached_property
    def by_names(self) -> dict[tuple[str, ...], Operation]:
        """The mutations by the names of their fields from the root on."""
        return {one.names: one for one in self.all if one.kind == "mutation"}

    def judgement(self, kind: str, parent: Any, name: str, field: GraphQLField) -> Judgement:
        """Return what it does to select a field of a type in a query or a mutation."""
        key = (kind, parent.name, name)
        known = self._judged.get(key)
        if known is None:
            known = self._judged[key] = self._judge(kind, parent, name, field)
        return known

    def _judge(self, kind: str, parent: Any, name: str, field: GraphQLField) -> Judgement:
        description = str(field.description or "")
        query = self._schema.query_type
        if kind == "query" or parent is query:
            may_act = parent is query or bool(field.args) or not is_leaf_type(get_named_type(field.type))
            text = description if may_act else description or "-"
            return judge(None, Effect.READ, (name,), text)
        if parent is self._mutation:
            return judge(None, Effect.WRITE, (name,), description)
        if self.acts(parent, name, field) or destructive_word(name):
            return judge(None, Effect.WRITE, _named(parent.name, name), description)
        return Judgement(Effect.READ)

    def acts(self, parent: GraphQLNamedType, name: str, field: GraphQLField) -> bool:
        """Whether a field of a type below a mutation does something, beyond returning data."""
        has_arguments = not _LIST_ARGUMENTS.issuperset(field.args)
        verb, destroys = verb_of_change(name), destructive_word(name) is not None
        if parent.name in self._readable:
            may_act = has_arguments or (destroys and not is_leaf_type(get_named_type(field.type)))
            return may_act and (destroys or verb not in ("", *_NOUNS))
        changes = destroys or bool(verb)
        if has_arguments and (changes or (self._is_group(parent) and not reads_by_name(name))):
            return True
        result = get_named_type(field.type)
        if is_leaf_type(result):
            return _is_flag(name, field) and (changes or self._is_group(parent))
        return changes and result.name not in self._readable and self._is_group(parent)

    @cached_property
    def _readable(self) -> frozenset[str]:
        """The names of the types that queries reach."""
        names: set[str] = set()
        pending: list[Any] = [self._schema.query_type] if self._schema.query_type else []
        while pending:
            one = pending.pop()
            if one.name in names or not is_composite_type(one):
                continue
            names.add(one.name)
            if isinstance(one, GraphQLUnionType):
                pending += one.types
                continue
            if isinstance(one, GraphQLInterfaceType):
                pending += self._schema.get_possible_types(one)
            pending += [get_named_type(field.type) for field in one.fields.values()]
        return frozenset(names)

    @cached_property
    def _groups(self) -> dict[str, bool]:
        return {}

    def _is_group(self, one: GraphQLNamedType) -> bool:
        """Whether a type that only mutations reach has operations as fields, by its name or by most of its fields."""
        if one.name not in self._groups:
            self._groups[one.name] = False  # for types in a circle
            self._groups[one.name] = self._looks_like_a_group(one)
        return self._groups[one.name]

    def _looks_like_a_group(self, one: Any) -> bool:
        if one is self._mutation:
            return True
        if not isinstance(one, (GraphQLObjectType, GraphQLInterfaceType)) or one.name in self._readable:
            return False
        if _GROUP_NAME.search(one.name):
            return True
        inner = [
            name for name, field in one.fields.items() if not field.args and self._is_group(get_named_type(field.type))
        ]
        if inner and all(name in inner or _is_flag(name, field) for name, field in one.fields.items()):
            return True
        acting = [
            name
            for name, field in one.fields.items()
            if not _LIST_ARGUMENTS.issuperset(field.args) and not reads_by_name(name)
        ]
        return any(map(verb_of_change, acting)) or len(acting) * 2 > len(one.fields)

    # --- tools -----------------------------------------------------------------------------------------------------

    def _mutations(self) -> Iterator[Operation]:
        root = self._mutation
        if root is None:
            return
        for name, field in root.fields.items():
            own = Operation(
                "mutation", ((name, field),), ("mutations", name), self.judgement("mutation", root, name, field)
            )
            is_plain = self._is_plain_group(name, field)
            nested = list(self._nested(own, is_plain=is_plain, types=(root.name,)))
            if not (is_plain and nested):
                yield own
            yield from nested

    def _is_plain_group(self, name: str, field: GraphQLField) -> bool:
        """Whether a field does nothing itself: it takes no arguments, and leads to operations."""
        one: Any = get_named_type(field.type)
        if field.args or not _is_single_object(field):
            return False
        verb = verb_of_change(name)
        if self._is_group(one):
            return not verb or verb in HOMOGRAPHS or bool(_GROUP_NAME.search(one.name))
        query = self._schema.query_type
        twin = query.fields.get(name) if query else None  # one type for the reads and the changes of a group
        return not verb and twin is not None and get_named_type(twin.type) is one and not twin.args

    def _nested(self, above: Operation, *, is_plain: bool, types: tuple[str, ...]) -> Iterator[Operation]:
        """Yield the operations below one. `types` are those on the way: a type below itself is not followed."""
        parent: Any = get_named_type(above.field.type)
        is_group = self._is_group(parent)
        if not _is_single_object(above.field) or parent.name in types or len(types) > DEEPEST:
            return
        for name, field in parent.fields.items():
            is_inner_group = is_group and self._is_plain_group(name, field)
            if is_inner_group and get_named_type(field.type).name in (*types, parent.name):
                continue
            if not (self._is_operation(parent, name, field, is_plain=is_plain and is_group) or is_inner_group):
                continue
            if not self._left:
                self.is_cut = True
                return
            self._left -= 1
            own = self._below(above, name, field, parent, is_plain=is_plain)
            inner: list[Operation] = []
            if is_group:
                inner = list(self._nested(own, is_plain=is_inner_group, types=(*types, parent.name)))
            if not (is_inner_group and inner):
                yield own
            yield from inner

    def _is_operation(self, parent: GraphQLNamedType, name: str, field: GraphQLField, *, is_plain: bool) -> bool:
        """Whether a field becomes a tool: it acts, or nothing else than a tool reaches it."""
        if self.acts(parent, name, field):
            return True
        result = get_named_type(field.type)
        return is_plain and (bool(field.args) or (is_composite_type(result) and result.name not in self._readable))

    def _below(
        self, above: Operation, name: str, field: GraphQLField, parent: GraphQLNamedType, *, is_plain: bool
    ) -> Operation:
        """Return an operation below another. A plain group is a part of the id; what is a tool too is joined to it."""
        names = (*_named(parent.name, name), *_named(above.steps[-1][0], name)[1:])
        own = judge(None, Effect.WRITE, names, str(field.description or ""))
        effect = own if is_plain or own.effect is Effect.DESTRUCTIVE else max(own, above.effect, key=_seriousness)
        path = (*above.path, name) if is_plain else (*above.path[:-1], f"{above.path[-1]}.{name}")
        return Operation("mutation", (*above.steps, (name, field)), path, effect)


def _named(group: str, name: str) -> tuple[str, str]:
    """Return the name of a field alone, and with the noun of its group: `void` of `InvoiceActions` voids invoices."""
    return name, f"{name}_{_GROUP_NAME.sub('', group)}"


def _is_flag(name: str, field: GraphQLField) -> bool:
    """Whether a field is a Boolean that may say that something was done, and reports no state."""
    return get_named_type(field.type).name == "Boolean" and not _REPORT.match(name)


def _seriousness(one: Judgement) -> bool:
    return one.effect is Effect.DESTRUCTIVE


def _is_single_object(field: GraphQLField) -> bool:
    """Whether a field has one object as value, and no list: calls of all its items are no operation."""
    inner: Any = field.type
    while isinstance(inner, GraphQLNonNull):
        inner = inner.of_type
    return not isinstance(inner, GraphQLList) and isinstance(inner, (GraphQLObjectType, GraphQLInterfaceType))
