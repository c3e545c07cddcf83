"""Look-ups: find the tools that provide the required values of another tool, such as the list that contains an id.

A look-up needs evidence. In a REST API, `GET /releases` provides the `release` of `DELETE /releases/{release}`.
Elsewhere, a tool provides the id of a member if its name is about members and its result has records with such a field.
A result without a schema counts if the name says that it lists members. Counts, settings and other values never do.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from codemode.catalog.identifiers import snake
from codemode.catalog.observed import is_undocumented
from codemode.catalog.tool import Effect, Location
from codemode.search.analysis import text, wordlists
from codemode.search.query import LookUp, Query

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from codemode.catalog.schema import Schema
    from codemode.catalog.tool import Parameter, Tool
    from codemode.search.query import Hits

_IDENTIFIER = re.compile(r"(?P<what>.*?)_?(?P<kind>ids?|uuid|guid|key|slug|number|login)$", re.IGNORECASE)
_MOST = 2  # look-ups shown for one tool
_TRIED = 30  # hits that are examined for one parameter
_DEEPEST = 4  # levels of a result in which records are looked for

#: Words in a name behind its noun: `orders_by_date`, `orders_of_client`.
_BEHIND = frozenset(("by", "of", "for", "from", "in", "with", "to", "on", "at", "v1", "v2"))

#: Verbs of tools that list things, for results without a schema.
_LISTING = frozenset(("list", "search", "find", "query", "browse", "all", "get", "fetch"))


class _Wanted(NamedTuple):
    """What a parameter identifies: the terms of the thing, and the names of fields that have such a value."""

    terms: tuple[str, ...]
    fields: frozenset[str]


class Catalogued(NamedTuple):
    """How look-ups find tools: by words, by id or alias, and by source and key."""

    search: Callable[[Query], Hits]
    by_id: Callable[[str], Tool | None]
    by_key: Callable[[str, str], Tool | None]


def find_look_ups(tool: Tool, catalog: Catalogued) -> list[LookUp]:
    """Return at most two look-ups of `tool`.

    Tools of its namespace that list the things whose ids it requires come first. Tools that it declares as related
    follow.
    """
    look_ups: list[LookUp] = []
    for parameter in tool.parameters:
        provider = _provider(parameter, tool, catalog) if parameter.required else None
        if provider is not None and all(provider.id != other.tool.id for other in look_ups):
            look_ups.append(LookUp(parameter.name, provider))
    declared = [other for other in map(catalog.by_id, tool.related) if other is not None]
    look_ups += [LookUp("", other) for other in declared if all(other.id != known.tool.id for known in look_ups)]
    return look_ups[:_MOST]


def _wanted(parameter: Parameter, tool: Tool) -> _Wanted | None:
    """Return what a parameter identifies: `member` for `member_id`; for `id`, what the path or the tool's name says.

    A value that a call brings along, such as the key of `add_key`, is not looked up.
    """
    name = "_".join(snake(parameter.name).split("_"))
    match = _IDENTIFIER.fullmatch(name)
    if match is None:
        return None
    kind = match["kind"].removesuffix("s")
    what = match["what"].replace("_", " ").strip()
    if not what and tool.key.startswith(("POST ", "PUT ", "PATCH ")) and parameter.location is not Location.PATH:
        return None
    terms = text.terms(what) if what else _path_terms(parameter, tool) or _nouns(tool)
    own = {name, snake(parameter.wire_name), kind, *(f"{term}_{kind}" for term in terms)}
    return _Wanted(tuple(terms), frozenset(own | ({"id"} if kind in ("id", "number", "key") else set())))


def _path_terms(parameter: Parameter, tool: Tool) -> list[str]:
    """Return the terms of the segment before a parameter in a path: `release` in `/releases/{id}`."""
    collection = _collection(parameter, tool)
    return list(text.terms(collection.rpartition("/")[2])) if collection else []


def _collection(parameter: Parameter, tool: Tool) -> str:
    """Return the path before a parameter: `/releases` in `DELETE /releases/{id}`, "" if there is none."""
    _, _, path = tool.key.partition(" ")
    before, found, _ = path.partition(f"/{{{parameter.wire_name}}}")
    return before if found and not before.endswith("}") else ""


def _provider(parameter: Parameter, tool: Tool, catalog: Catalogued) -> Tool | None:
    collection = _collection(parameter, tool)
    of_path = catalog.by_key(tool.source, f"GET {collection}") if collection else None
    if of_path is not None and of_path.id != tool.id and _has_records(of_path):
        return of_path
    wanted = _wanted(parameter, tool)
    if wanted is None or not wanted.terms:
        return None
    query = Query((f"list {' '.join(wanted.terms)}",), namespace=tool.namespace, effect=Effect.READ, limit=_TRIED)
    found = (hit.tool for hit in catalog.search(query).hits)
    fitting = [other for other in found if other.id != tool.id and _provides(other, wanted)]
    return min(fitting, key=lambda provider: _drawbacks(provider, tool)) if fitting else None


def _provides(tool: Tool, wanted: _Wanted) -> bool:
    """Return whether a tool is about the wanted thing, returns records of it, and does not require it itself."""
    head = _head(tool)
    about = wanted.terms[-1] in head and set(wanted.terms) <= set(text.terms(tool.path))
    return about and not _asks(tool, wanted) and _lists(tool, wanted)


def _asks(tool: Tool, wanted: _Wanted) -> bool:
    """Return whether a required parameter asks for the wanted value."""
    asked = (_wanted(parameter, tool) for parameter in tool.parameters if parameter.required)
    return any(other is not None and set(other.terms) >= set(wanted.terms) for other in asked)


def _lists(tool: Tool, wanted: _Wanted) -> bool:
    """Return whether the result has records with the wanted field, or else the name says so."""
    if not is_undocumented(tool) and tool.returns is not None:
        return any(wanted.fields & fields for fields in _records(tool.returns))
    words = snake(tool.path.rpartition(".")[2]).split("_")
    return not _LISTING.isdisjoint(words) and "count" not in words


def _has_records(tool: Tool) -> bool:
    """Return whether a result may have records: those of a list at a path, however their id is called."""
    return is_undocumented(tool) or tool.returns is None or any(_records(tool.returns))


def _records(schema: Schema, depth: int = 0) -> Iterator[frozenset[str]]:
    """Yield the field names of each object in a result, also of those in lists and envelopes."""
    if depth > _DEEPEST:
        return
    target = schema.resolved()
    for variant in target.variants():
        yield from _records(variant, depth + 1)
    items = target.items()
    if items is not None:
        yield from _records(items, depth + 1)
    fields = target.properties()
    if fields:
        yield frozenset(map(snake, fields))
    for field in fields.values():
        inner = field.resolved()
        if "array" in inner.types() or depth == 0:
            yield from _records(inner, depth + 1)


def _drawbacks(provider: Tool, tool: Tool) -> tuple[bool, bool, int, int, int]:
    """Return what makes a provider worse.

    One record instead of a list, another group, missing parameters of the same scope, further ones, a longer name.
    """
    own = {parameter.name for parameter in tool.parameters if parameter.required}
    required = {parameter.name for parameter in provider.parameters if parameter.required}
    is_elsewhere = provider.id.rpartition(".")[0] != tool.id.rpartition(".")[0]
    return (
        not _is_list(provider),
        is_elsewhere,
        -len(own & required),
        len(required - own),
        len(text.terms(provider.path)),
    )


def _is_list(tool: Tool) -> bool:
    if tool.returns is None or is_undocumented(tool):
        return True
    target = tool.returns.resolved()
    kinds = {kind for field in target.properties().values() for kind in field.resolved().types()}
    return "array" in target.types() or "array" in kinds


def _head(tool: Tool) -> set[str]:
    """Return the terms of the thing that a name is about: `orders` of `list_orders_by_date`; else of its group."""
    *groups, name = tool.path.split(".")
    for part in (name, *reversed(groups)):
        words = snake(part).split("_")
        cut = next((at for at, word in enumerate(words) if at and word in _BEHIND), len(words))
        nouns = [term for term in text.terms(" ".join(words[:cut])) if term not in _generic()]
        if nouns:
            return {nouns[-1]}
    return set()


def _nouns(tool: Tool) -> list[str]:
    """Return the terms of a tool's name without its verb, else those of its group."""
    *groups, name = tool.path.split(".")
    for part in (name, *reversed(groups)):
        words = snake(part).split("_")
        own = [word for at, word in enumerate(words) if at or not _is_verb(word)]
        terms = [term for term in dict.fromkeys(text.terms(" ".join(own))) if term not in wordlists.actions()]
        if terms:
            return terms
    return []


def _is_verb(word: str) -> bool:
    return any(term in wordlists.actions() for term in text.terms(word))


def _generic() -> frozenset[str]:
    """Return the terms in names of lists that are no things: `list`, `all`, `page`."""
    return frozenset(term for word in ("list", "lists", "all", "page", "index", *_LISTING) for term in text.terms(word))
