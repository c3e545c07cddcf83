"""Read the answer of a list: its items, the fields that describe the list, and its length."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from codemode.catalog.identifiers import snake
from codemode.catalog.page_words import ABOUT_LIST, BESIDE, ENVELOPES, TOTAL_HEADERS, TOTALS, USUAL_LISTS
from codemode.catalog.paging import ANY_FIELD

_ABOUT_NAMES = frozenset(map(snake, ABOUT_LIST))
_MOST_LINKS = 50


def list_in(field: str, value: Any) -> list[Any] | None:
    """Return the list of an answer, or None: the declared one, else the usual one, also one level down."""
    if isinstance(value, list):
        return value
    if not isinstance(value, Mapping):
        return None
    if field and field != ANY_FIELD:
        part: Any = value
        for name in field.split("."):
            part = part.get(name) if isinstance(part, Mapping) else None
        if isinstance(part, list):
            return part
        if part is None and field in value:
            return []
    usual = _usual_list(value)
    return _nested_list(value) if usual is None else usual


def _usual_list(value: Mapping[str, Any]) -> list[Any] | None:
    lists = {str(name): items for name, items in value.items() if isinstance(items, list) and name not in BESIDE}
    for name in USUAL_LISTS:
        if name in lists:
            return lists[name]
    return next(iter(lists.values())) if len(lists) == 1 else None


def _nested_list(value: Mapping[str, Any]) -> list[Any] | None:
    """Return the list in HAL's `_embedded`, or in an envelope."""
    inner = [part for name in ENVELOPES if isinstance(part := value.get(name), Mapping)]
    objects = {snake(str(name)): part for name, part in value.items() if isinstance(part, Mapping)}
    others = [part for name, part in objects.items() if name not in _ABOUT_NAMES] or list(objects.values())
    for part in (*inner, *(others if len(others) == 1 else ())):
        items = _usual_list(part)
        if items is not None:
            return items
    return None


def total_of(value: Any, headers: Mapping[str, str] | None = None) -> int | None:
    """Return the length of the whole list that an answer or its headers state, or None."""
    for name in TOTAL_HEADERS if headers else ():
        text = (headers or {}).get(name, "")
        if text.isascii() and text.isdigit():
            return int(text[:18])
    stated = stated_fields(value)
    known = {name: number for name in TOTALS if type(number := stated.get(name)) is int and number >= 0}
    if known.get("count") == len(list_in(ANY_FIELD, value) or []):
        del known["count"]  # it may be that of the page
    return next(iter(known.values()), None)


def stated_fields(value: Any) -> dict[str, Any]:
    """Return the scalar fields of an answer by their names in snake case: its own, and those that describe its list.

    The fields of an envelope, and those of objects such as `meta`, `links` and `pagination`, count as the answer's own.
    Fields further out take precedence.
    """
    stated: dict[str, Any] = {}
    for fields in _described(value):
        for name, scalar in _scalars(fields):
            stated.setdefault(name, scalar)
    return stated


def next_objects(value: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the objects called `next`, which hold the arguments of the next page."""
    for fields in _described(value):
        following = fields.get("next") if isinstance(fields, Mapping) else None
        if isinstance(following, Mapping):
            yield following


def field_at(value: Any, path: str) -> Any:
    """Return the field at a path of names in snake case, None if there is none."""
    for name in path.split("."):
        fields = value if isinstance(value, Mapping) else {}
        value = next((part for own, part in fields.items() if snake(str(own)) == name), None)
    return value


def _described(value: Any) -> Iterator[Any]:
    """Yield an answer, the objects and lists in it that describe its list, and the same of its envelopes."""
    if not isinstance(value, Mapping):
        return
    envelopes = [part for name, part in value.items() if snake(str(name)) in ENVELOPES and isinstance(part, Mapping)]
    for fields in (value, *envelopes):
        yield fields
        yield from (part for name, part in fields.items() if snake(str(name)) in _ABOUT_NAMES)


def _scalars(fields: Any, prefix: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    """Return scalar fields by their path, two levels deep. A list of links counts as an object with their relations."""
    if isinstance(fields, list):
        fields = {
            link["rel"]: link.get("href", link.get("url"))
            for link in fields[:_MOST_LINKS]
            if isinstance(link, Mapping) and isinstance(link.get("rel"), str)
        }
    for name, value in fields.items() if isinstance(fields, Mapping) else ():
        path = prefix + snake(str(name))
        if not isinstance(value, (Mapping, list)):
            yield path, value
        elif depth == 0 and isinstance(value, Mapping):
            yield from _scalars(value, f"{path}.", 1)
