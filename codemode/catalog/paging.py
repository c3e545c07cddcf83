"""Detect how a tool is paged, from the names of its parameters and the schema of its result.

`codemode.catalog.next_page` reads the answers, which decide.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

from codemode.catalog.change_words import verb_of_change
from codemode.catalog.identifiers import snake
from codemode.catalog.page_words import (
    ABOUT_LIST,
    AFTER,
    ANY_CURSOR,
    BESIDE,
    CONTAINERS,
    CURSOR,
    CURSOR_BESIDE_SIZE,
    ENDS,
    ENVELOPES,
    FROM_ZERO,
    LINKED,
    NEXT,
    OF_TIME,
    OFFSET,
    PAGE,
    RANGES,
    READING,
    SIZE,
    USUAL_LISTS,
)
from codemode.catalog.tool import Effect, Location, Paging
from codemode.catalog.verbs import kind_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from codemode.catalog.schema import Schema
    from codemode.catalog.tool import Parameter, Tool

#: The value of `Paging.items` if the field of the list is only known from the response.
ANY_FIELD = "*"

_NUMBER, _TEXT = frozenset(("integer", "number")), frozenset(("string", "integer", "number"))
_LOCATIONS = (Location.QUERY, Location.BODY_FIELD, Location.ARGUMENT)
_OF_CHANGES = ("PUT ", "PATCH ", "DELETE ")
_DATES = ("date", "date-time")


class _Place(NamedTuple):
    """Where an argument goes: a parameter's name, or the path of a field in an object parameter."""

    path: str
    name: str
    schema: Schema
    description: str

    @property
    def types(self) -> frozenset[str]:
        return frozenset(self.schema.resolved().types())

    @property
    def text(self) -> str:
        """What the document says about it."""
        return f"{self.description} {self.schema.first('description') or ''}"

    def is_any_of(self, types: frozenset[str]) -> bool:
        """Return whether it takes one of these types, as far as it is declared."""
        return not self.types - {"null"} or bool(self.types & types)


def paging_of(tool: Tool) -> Paging | None:
    """Return how a tool is paged. None if its result is not a list, or if the document names nothing that leads on."""
    if tool.details.paging is not None:
        return tool.details.paging
    if _changes_something(tool):
        return None
    places = _by_name(tool.parameters)
    size = _named(places, SIZE, _NUMBER) or _named(places, SIZE, _TEXT)
    numbers = _TEXT if size else _NUMBER
    page, offset = _named(places, PAGE, numbers), _offset(places, numbers)
    roles = {
        "cursor": _cursor(places, is_alone=bool(size) and not (page or offset)),
        "after": _after(places),
        "page": page,
        "offset": offset,
    }
    is_linked = bool(_named(places, LINKED, _TEXT)) or (tool.effect is Effect.READ and _leads_on(tool.returns))
    is_paged = any(roles.values()) or is_linked
    items = _items_field(tool, is_paged=is_paged) if is_paged else None
    if items is None:
        return None
    named: dict[str, Any] = {role: place.path for role, place in roles.items() if place}
    return Paging(items, **named, **_sized(size), start=_first(page or offset))


def declared_paging(
    parameters: Iterable[Parameter], words: Mapping[str, str], *, start: int | None = None
) -> Paging | None:
    """Return the paging in words: wire names of parameters, and paths in the answer, by the fields of `Paging`.

    None if a parameter does not exist, or if nothing leads to the next page.
    """
    by_wire = dict(_places(parameters, is_declared=True))
    named = {role: words[role] for role in ("cursor", "after", "page", "offset", "size") if role in words}
    if (not named.keys() - {"size"} and "next" not in words) or not by_wire.keys() >= set(named.values()):
        return None
    own = {role: by_wire[wire_name] for role, wire_name in named.items()}
    roles: dict[str, Any] = {role: place.path for role, place in own.items() if role != "size"}
    return Paging(
        words.get("items", ANY_FIELD),
        **roles,
        **_sized(own.get("size")),
        start=_first(own.get("page") or own.get("offset")) if start is None else start,
        next=".".join(map(snake, words.get("next", "").split("."))),
    )


def walked(tool: Tool) -> Paging | None:
    """Return how the whole list of a tool is read: as it is paged, or else by what its answers say.

    None if the tool has no list, or if it is not paged and writes or is no HTTP operation.
    """
    paging = paging_of(tool)
    is_http = all(parameter.location is not Location.ARGUMENT for parameter in tool.parameters)
    if paging is not None or tool.effect is not Effect.READ or not is_http:
        return paging
    items = _items_field(tool, is_paged=False)
    return None if items is None else Paging(items, **_sized(_named(_by_name(tool.parameters), SIZE, _NUMBER)))


def _changes_something(tool: Tool) -> bool:
    """Return whether a tool is more than a search by POST: what it does must not be repeated for each page."""
    if tool.effect is Effect.READ:
        return False
    if tool.key.startswith(_OF_CHANGES):
        return True
    path = tool.key.partition(" ")[2]
    if not READING.isdisjoint(snake(path.rstrip("/").rpartition("/")[2]).split("_")):
        return False
    name = snake(tool.path.rpartition(".")[2])
    return bool(verb_of_change(name)) or kind_of(name) in ("create", "change", "remove")


def _places(parameters: Iterable[Parameter], *, is_declared: bool = False) -> Iterator[tuple[str, _Place]]:
    """Yield the places for arguments by their wire names, and by paths of them in objects: all, or the usual ones."""
    for parameter in parameters:
        wire_name, schema = parameter.wire_name, parameter.schema
        if parameter.location is Location.BODY:
            yield from _fields(schema, parameter.name, "", depth=2)
        elif parameter.location in _LOCATIONS:
            yield wire_name, _Place(parameter.name, snake(wire_name), schema, parameter.description)
            if is_declared or snake(wire_name) in CONTAINERS:
                yield from _fields(schema, parameter.name, wire_name, depth=1)


def _fields(schema: Schema, path: str, wire_path: str, *, depth: int) -> Iterator[tuple[str, _Place]]:
    for name, value in schema.resolved().properties().items():
        if "." in name:
            continue
        own, wire = f"{path}.{name}", f"{wire_path}.{name}".lstrip(".")
        described = str(value.first("description") or "")
        yield wire, _Place(own, snake(name), value, described)
        if wire_path:  # `number` in `page` is a `page_number`
            yield f"{wire_path}_{name}", _Place(own, snake(f"{wire_path}_{name}"), value, described)
        elif depth > 1 and snake(name) in CONTAINERS:
            yield from _fields(value, own, wire, depth=depth - 1)


def _by_name(parameters: Iterable[Parameter]) -> dict[str, _Place]:
    """Return the places by their names in snake case. Parameters take precedence over fields of objects."""
    places = [place for _, place in _places(parameters)]
    nested = (place for place in places if "." in place.path)
    by_name: dict[str, _Place] = {}
    for place in chain((place for place in places if "." not in place.path), nested):
        by_name.setdefault(place.name, place)
    return by_name


def _named(places: Mapping[str, _Place], wanted: tuple[str, ...], types: frozenset[str]) -> _Place | None:
    return next((places[name] for name in wanted if name in places and places[name].is_any_of(types)), None)


def _cursor(places: Mapping[str, _Place], *, is_alone: bool) -> _Place | None:
    """Return the parameter for a cursor. With `is_alone`, nothing but a page size is beside it."""
    known = _named(places, CURSOR, _TEXT) or (_named(places, CURSOR_BESIDE_SIZE, _TEXT) if is_alone else None)
    others = (place for name, place in places.items() if ANY_CURSOR.search(name) and place.is_any_of(_TEXT))
    return known or next(others, None)


def _after(places: Mapping[str, _Place]) -> _Place | None:
    """Return the parameter for an id or cursor after which the page begins, but for a time."""
    place = _named(places, AFTER, _TEXT)
    if place is None or place.schema.resolved().get("format") in _DATES:
        return None
    is_time = "string" not in place.types and OF_TIME.search(place.text)
    return None if is_time else place


def _offset(places: Mapping[str, _Place], types: frozenset[str]) -> _Place | None:
    place = _named(places, OFFSET, types)
    if place is None or place.name not in RANGES:
        return place
    is_text = place.types and not place.types & _NUMBER
    is_range = is_text or any(name in places for name in ENDS) or OF_TIME.search(place.text)
    return None if is_range else place


def _sized(size: _Place | None) -> dict[str, Any]:
    return {"size": size.path, "size_default": _integer(size.schema.first("default"))} if size else {}


def _first(place: _Place | None) -> int | None:
    """Return the number of the first page, or the first offset, if the document says it."""
    if place is None:
        return None
    if FROM_ZERO.search(place.text):
        return 0
    numbers = (_integer(place.schema.first("default")), _integer(place.schema.first("minimum")))
    return next((number for number in numbers if number in (0, 1)), None)


def _integer(value: Any) -> int | None:
    if isinstance(value, str) and value.isascii() and value.isdigit():
        return int(value[:18])
    return value if type(value) is int else None


def _leads_on(returns: Schema | None) -> bool:
    """Return whether an answer declares the URL, the cursor or the number of the next page."""
    if returns is None:
        return False
    fields = returns.resolved().properties()
    about = (name for name in fields if snake(name) in (*ABOUT_LIST, *ENVELOPES, "_links"))
    names = chain(fields, *(fields[name].resolved().properties() for name in about))
    return any(snake(name) in NEXT for name in names)


def _items_field(tool: Tool, *, is_paged: bool) -> str | None:
    """Return the value of `Paging.items`, None if the result is no list. A paged result may be declared wrongly."""
    if tool.returns is None:
        return ANY_FIELD
    schema = tool.returns.resolved()
    if "array" in schema.types():
        return ""
    if schema.types() not in ((), ("object",)) and "object" not in schema.types():
        return None
    properties = schema.properties()
    if not properties:
        return ANY_FIELD
    field = _list_field(properties, tool.path)
    if field:
        return field
    for name in (name for name in ENVELOPES if name in properties):
        inner = _list_field(properties[name].resolved().properties(), tool.path)
        if inner and "." not in name:
            return f"{name}.{inner}"
    is_open = any(_is_open(properties[name]) for name in ENVELOPES if name in properties)
    return ANY_FIELD if is_paged or is_open else None


def _list_field(properties: Mapping[str, Schema], path: str) -> str:
    """Return the field of the items among others, "" if none is certain.

    It has a usual name, is the only list, or the only list of objects, or the tool is named after it.
    """
    lists = [
        name for name, value in properties.items() if name not in BESIDE and "." not in name and _may_be_list(value)
    ]
    usual = next((name for name in USUAL_LISTS if name in lists), "")
    if usual or len(lists) == 1:
        return usual or lists[0]
    of_objects = [name for name in lists if _lists_objects(properties[name])]
    if len(of_objects) == 1:
        return of_objects[0]
    words = f".{path}.".replace("_", ".")
    after_it = [name for name in of_objects if f".{snake(name).replace('_', '.')}." in words]
    return after_it[0] if len(after_it) == 1 else ""


def _lists_objects(schema: Schema) -> bool:
    items = schema.resolved().items()
    return items is not None and bool(items.resolved().properties())


def _is_open(schema: Schema) -> bool:
    """Return whether an envelope may have a list, because it is not described or has several."""
    resolved = schema.resolved()
    properties = resolved.properties()
    if not properties:
        return resolved.types() in ((), ("object",))
    return any(_may_be_list(part) for name, part in properties.items() if name not in BESIDE)


def _may_be_list(schema: Schema) -> bool:
    resolved = schema.resolved()
    return any("array" in part.resolved().types() for part in (resolved, *resolved.variants()))
