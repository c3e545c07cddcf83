"""What an execution has read: the records in its answers, found by the ids in a call's arguments.

A record fits an id argument if its own id has that value, and its kind is the argument's: the argument `salaryId` means
an object with `id` from a tool or list of salaries. Ids of eight characters or more, and mail addresses, fit records of
any kind. A wrong record would mislead more than none, so what is doubtful is left out: records of other sources than
the tool's, answers of saved programs, and what the program itself has told the service.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from codemode.features.cards.provenance import Provenance
from codemode.features.cards.words import (
    is_address,
    is_identifier,
    is_own_id,
    kind_of,
    rank_of,
    words_of,
)
from codemode.gateway.redaction import is_secret_name
from codemode.text.prose import shorten

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from codemode.executions.types.card import Scalar
    from codemode.executions.types.record import Record, RecordedCall

#: Answers are searched newest first, up to this many bytes and objects.
_MOST_BYTES = 4 << 20
_MOST_OBJECTS = 50_000
_DEEPEST = 12

#: Fields of a record that a card shows, and the fewest if there are any.
_MOST_FIELDS, _FEWEST_FIELDS = 8, 3
#: Characters of one field.
_CHARACTERS = 200

#: Ids of this length do not occur in records of two kinds by accident.
_UNMISTAKABLE = 8


@dataclass(frozen=True, slots=True)
class Reading:
    """One object in an answer: the call that read it, the words of its place, and its content."""

    call: RecordedCall
    place: frozenset[str]
    content: Mapping[str, Any]


class Readings:
    """The objects in the answers of an execution, newest first."""

    def __init__(self, record: Record) -> None:
        self._provenance = Provenance(record)
        self._by_id: dict[str, list[tuple[str, Reading]]] = {}
        for reading in _objects(record):
            for name, value in reading.content.items():
                if _is_scalar(value) and (is_identifier(name) or is_address(name)):
                    self._by_id.setdefault(str(value), []).append((name, reading))

    def find(self, argument: str, value: Any, tool: str) -> Reading | None:
        """Return the newest record that an argument of a tool identifies, or None."""
        if not _is_scalar(value) or isinstance(value, bool):
            return None
        wanted = kind_of(argument) or frozenset(words_of(tool.partition(".")[2]))
        source = tool.partition(".")[0]
        for name, reading in self._by_id.get(str(value), ()):
            is_own = reading.call.tool.partition(".")[0] == source
            is_fit = is_own and _fits(name, reading, argument, str(value), wanted)
            if is_fit and not self._provenance.has_id(reading.call, value):
                return reading
        return None

    def naming(self, reading: Reading) -> dict[str, Scalar]:
        """Return the fields that name a record, the best first. The name may come from a record that it refers to."""
        fields = self._named(reading)
        if any(rank_of(name) == 0 for name in fields):
            return fields
        for name, value in reading.content.items():
            if is_identifier(name) and kind_of(name):
                other = self.find(name, value, reading.call.tool)
                names = self._named(other) if other is not None else {}
                best = next((field for field in names if rank_of(field) == 0), None)
                if best is not None:
                    return {f"{name} → {best}": names[best], **fields}
        return fields

    def same_field(self, reading: Reading, argument: str) -> Scalar | None:
        """Return the value of the record's field with the name of an argument, or None if it has none."""
        words, content = words_of(argument), reading.content
        same = (value for name, value in content.items() if words_of(name) == words and not is_secret_name(name))
        value = next(same, None)
        is_believed = _is_scalar(value) and not self._provenance.has_text(reading.call, value)
        return _short(value) if is_believed else None

    def _named(self, reading: Reading) -> dict[str, Scalar]:
        fields = _naming(reading.content)
        return {name: value for name, value in fields.items() if not self._provenance.has_text(reading.call, value)}


def _objects(record: Record) -> Iterator[Reading]:
    size = objects = 0
    for call in sorted(record.calls.values(), key=lambda one: one.sequence, reverse=True):
        if call.end is None or call.end.is_error or not call.end.facts:
            continue  # queries of the program have no facts
        if call.path in record.began:
            continue  # a saved program answers what it likes
        if size + len(call.end.answer) > _MOST_BYTES:
            continue
        size += len(call.end.answer)
        for place, content in _walk(json.loads(call.end.answer), frozenset(words_of(call.tool)), _DEEPEST):
            objects += 1
            if objects > _MOST_OBJECTS:
                return
            yield Reading(call, place, content)


def _walk(value: Any, place: frozenset[str], deep: int) -> Iterator[tuple[frozenset[str], Mapping[str, Any]]]:
    if isinstance(value, dict):
        yield place, value
        for name, inner in value.items() if deep else ():
            if isinstance(inner, (dict, list)):
                yield from _walk(inner, frozenset(words_of(name)) if isinstance(inner, dict) else place, deep - 1)
    elif isinstance(value, list) and deep:
        for inner in value:
            yield from _walk(inner, place, deep - 1)


def _fits(name: str, reading: Reading, argument: str, value: str, wanted: frozenset[str]) -> bool:
    """Return whether a field with the right value identifies the record that the argument means."""
    is_same_name = words_of(name) == words_of(argument)
    if is_address(name):
        return is_same_name or "@" in value
    if not is_own_id(name):  # `salaryId`: the record's own id only if it has no other
        return is_same_name and not any(is_own_id(other) for other in reading.content)
    if any(words_of(other) == words_of(argument) for other in reading.content) and not is_same_name:
        return False  # a record with `id` and `staffId` is no member of the staff
    return bool(reading.place & wanted) or len(value) >= _UNMISTAKABLE


def _naming(content: Mapping[str, Any]) -> dict[str, Scalar]:
    flat = {name: value for name, value in _flat(content) if _is_scalar(value) and not is_secret_name(name)}
    ranked = sorted((name for name in flat if rank_of(name) is not None), key=lambda name: rank_of(name) or 0)
    ranked = [name for name in ranked if not is_identifier(name)][:_MOST_FIELDS]
    others = [name for name in flat if name not in ranked and not is_identifier(name)]
    return {name: _short(flat[name]) for name in (*ranked, *others[: max(_FEWEST_FIELDS - len(ranked), 0)])}


def _short(value: Any) -> Any:
    return shorten(value, _CHARACTERS) if isinstance(value, str) else value


def _flat(content: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the fields of a record, and the names of the objects in it: `member.name`."""
    for name, value in content.items():
        if isinstance(value, dict):
            yield from ((f"{name}.{inner}", part) for inner, part in value.items() if rank_of(inner) == 0)
        else:
            yield name, value


def _is_scalar(value: Any) -> bool:
    return isinstance(value, (str, int, float, bool)) and value != ""
