"""Records as JSON data: one rule for what is stored, sent and published.

A field has its own name, unless `JSON_NAMES` of its class names another one; "" leaves the field out. A time in
microseconds is RFC 3339 under the name without its unit, and null for 0: `asked_us` is `asked`. Records in a record
follow the same rule. Values are not copied.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from enum import StrEnum
from functools import partial
from types import UnionType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, Union, get_args, get_origin, get_type_hints

from codemode.text.times import microseconds_of, rfc3339

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

T = TypeVar("T")

_TIME = "_us"


class JsonForm(NamedTuple):
    """The fields of a record that its JSON form has: their JSON names and their types, by their own names, in order.

    `writers` and `readers` change values, by the names of their fields.
    """

    names: tuple[tuple[str, str], ...]
    types: Mapping[str, Any]
    writers: tuple[tuple[str, Callable[[Any], Any]], ...]
    readers: tuple[tuple[str, Callable[[Any], Any]], ...]


_forms: dict[Any, JsonForm] = {}


def form_of(kind: Any) -> JsonForm:
    """Return the form of a dataclass or a named tuple."""
    form = _forms.get(kind)
    if form is None:
        form = _forms[kind] = _form(kind)
    return form


def json_of(record: Any) -> dict[str, Any]:
    """Return a record as JSON data."""
    form = form_of(type(record))
    data = {json_name: getattr(record, name) for name, json_name in form.names}
    for json_name, write in form.writers:
        data[json_name] = write(data[json_name])
    return data


def record_of(kind: type[T], data: Mapping[str, Any]) -> T:
    """Return the record that JSON data describes. Absent fields have their defaults, and unknown ones are left out.

    Data of earlier versions may have a time under its own name.
    """
    form = form_of(kind)
    found = {name: data[json_name] for name, json_name in form.names if json_name in data}
    for name, read in form.readers:
        if found.get(name) is not None:
            found[name] = read(found[name])
        elif is_time(name):
            found[name] = data.get(name, 0)
    return kind(**found)


def is_record(kind: Any) -> bool:
    """Return whether a type is a dataclass or a named tuple."""
    return isinstance(kind, type) and (is_dataclass(kind) or hasattr(kind, "_fields"))


def is_time(name: str) -> bool:
    """Return whether a field is a time in microseconds."""
    return name.endswith(_TIME)


def _form(kind: Any) -> JsonForm:
    hints = get_type_hints(kind)
    own = [one.name for one in fields(kind)] if is_dataclass(kind) else kind._fields
    renamed: Mapping[str, str] = getattr(kind, "JSON_NAMES", {})
    names = tuple((name, found) for name in own if (found := renamed.get(name, name.removesuffix(_TIME))))
    return JsonForm(
        names=names,
        types={name: hints[name] for name, _ in names},
        writers=tuple((found, write) for name, found in names if (write := _writer(name, hints[name]))),
        readers=tuple((name, read) for name, _ in names if (read := _reader(name, hints[name]))),
    )


def _writer(name: str, hint: Any) -> Callable[[Any], Any] | None:
    if is_time(name):
        return _written_time
    inner, is_list = _inner(hint)
    if not is_record(inner):
        return None
    return _written_list if is_list else _written


def _reader(name: str, hint: Any) -> Callable[[Any], Any] | None:
    if is_time(name):
        return microseconds_of
    inner, is_list = _inner(hint)
    if is_record(inner):
        read: Callable[[Any], Any] = partial(record_of, inner)
    elif isinstance(inner, type) and issubclass(inner, StrEnum):
        read = inner
    else:
        return tuple if is_list else None
    return partial(_read_list, read) if is_list else read


def _inner(hint: Any) -> tuple[Any, bool]:
    """Return the type of a field without null and without the tuple around it, and whether it is in a tuple."""
    if get_origin(hint) in (Union, UnionType):
        others = [one for one in get_args(hint) if one is not type(None)]
        return _inner(others[0]) if len(others) == 1 else (hint, False)
    return (get_args(hint)[0], True) if get_origin(hint) is tuple else (hint, False)


def _written(record: Any) -> Any:
    return None if record is None else json_of(record)


def _written_list(records: tuple[Any, ...]) -> tuple[dict[str, Any], ...]:
    return tuple(map(json_of, records))


def _written_time(at_us: int) -> str | None:
    return rfc3339(at_us) if at_us else None


def _read_list(read: Callable[[Any], Any], values: Any) -> tuple[Any, ...]:
    return tuple(map(read, values))
