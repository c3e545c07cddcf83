"""Shrink a JSON text to a number of characters: valid JSON of the same shape, and what was left out.

The largest parts are shrunk first. A list keeps all items if only their long texts must be shrunk, else its first ones.
An object keeps all fields that fit, and a string its beginning. Parts that are left out are never parsed.
"""

from __future__ import annotations

import json
from itertools import islice
from typing import Any

import msgspec

#: A text with more parts is reduced to its first ones before its parts are looked at one by one.
_MANY = 500_000

#: Items of a list that are shown at least, if they have to be shrunk themselves.
_LEAST_ITEMS = 3

#: Characters of a long text in an item that may be left of it, so that more items are shown.
_LEAN = 60

#: Characters below which a part is left out instead of being shrunk.
_LEAST = 24

_PUNCTUATION = 4  # characters of a name's quotes, colon and comma, or of an item's comma

_items = msgspec.json.Decoder(list[msgspec.Raw]).decode
_fields = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


def shrink(data: bytes, limit: int) -> tuple[str, tuple[str, ...]]:
    """Return JSON text of at most `limit` characters, and a description of each cut: `items: 5 of 86 items`.

    `data` is JSON in UTF-8. Lists of numbers longer than `limit` itself are shortened as well. Raises ValueError for
    data that is not JSON.
    """
    if len(data) <= limit:
        return _readable(data), ()
    counts: dict[str, int] = {}
    if data.count(b",") > _MANY:
        data = _compact(_reduced(json.loads(data), limit, "", counts))
    budget = limit
    while True:
        cuts = _Cuts(counts)
        text = _shrunk(data, budget, "", cuts)
        if len(text) <= limit or budget < _LEAST:
            return text, cuts.described()
        budget = budget * limit // (len(text) + 1)


class _Cuts:
    """What was left out, by path. `counts` are numbers of members that the text no longer has."""

    def __init__(self, counts: dict[str, int]) -> None:
        self._counts = counts
        self._by_path: dict[str, str] = {}

    def add(self, path: str, shown: int, whole: int, what: str) -> None:
        whole = max(whole, self._counts.get(path, 0))
        if shown < whole:
            self._by_path.setdefault(path, f"{shown:,} of {whole:,} {what}")

    def described(self) -> tuple[str, ...]:
        return tuple(f"{path or 'the result'}: {cut}" for path, cut in self._by_path.items())


def _shrunk(data: bytes, budget: int, path: str, cuts: _Cuts) -> str:
    if len(data) <= budget:
        return _readable(data)
    match data.lstrip()[:1]:
        case b"[":
            return _shrunk_list(_items(data), budget, path, cuts)
        case b"{":
            return _shrunk_object(_fields(data), budget, path, cuts)
        case b'"':
            text = json.loads(data)
            kept = max(0, min(budget - _LEAST, len(text) - 1))  # escapes may be longer than the text
            cuts.add(path, kept, len(text), "characters")
            return _readable(_compact(text[:kept] + "…"))
        case _:
            return _readable(data)


def _shrunk_list(items: list[msgspec.Raw], budget: int, path: str, cuts: _Cuts) -> str:
    fits, left = _all_fit(items, budget), budget
    shown: list[str] = []
    for place, item in enumerate(items):
        share = left // (len(items) - place) - _PUNCTUATION if fits else budget // min(_LEAST_ITEMS, len(items))
        size = min(memoryview(item).nbytes, share)
        if shown and size + _PUNCTUATION > left:
            break
        shown.append(_shrunk(bytes(item), size, f"{path}[]", cuts))
        left -= len(shown[-1]) + _PUNCTUATION
    cuts.add(path, len(shown), len(items), "items")
    return f"[{', '.join(shown)}]"


def _all_fit(items: list[msgspec.Raw], budget: int) -> bool:
    """Return whether all items fit if nothing but their long texts is shrunk."""
    share = budget // len(items) - _PUNCTUATION
    return share >= _LEAN and all(_lean(bytes(item)) <= share for item in items)


def _lean(item: bytes) -> int:
    if item.lstrip()[:1] != b"{":
        return len(item)
    fields = _fields(item)
    texts = [bytes(value) for value in fields.values() if bytes(value)[:1] == b'"']
    return len(item) - sum(max(0, len(text) - _LEAN) for text in texts) + _PUNCTUATION * len(fields)


def _shrunk_object(fields: dict[str, msgspec.Raw], budget: int, path: str, cuts: _Cuts) -> str:
    names = {name: _readable(_compact(name)) for name in islice(fields, max(budget, 0) // _PUNCTUATION + 1)}
    shares = _shares({name: memoryview(fields[name]).nbytes for name in names}, names, budget)
    cuts.add(path, len(shares), len(fields), "fields")
    shown = (
        f"{names[name]}: {_shrunk(bytes(fields[name]), share, f'{path}.{name}' if path else name, cuts)}"
        for name, share in shares.items()
    )
    return f"{{{', '.join(shown)}}}"


def _shares(sizes: dict[str, int], names: dict[str, str], budget: int) -> dict[str, int]:
    """Divide the budget among fields: small ones get their size, the others equal parts. The last may be left out."""
    kept = dict(sizes)
    while True:
        left = budget - sum(len(names[name]) + _PUNCTUATION for name in kept)
        shares: dict[str, int] = {}
        for place, name in enumerate(sorted(kept, key=kept.__getitem__)):
            shares[name] = min(kept[name], left // (len(kept) - place))
            left -= shares[name]
        if len(kept) <= 1 or all(shares[name] >= min(kept[name], _LEAST) for name in kept):
            return {name: shares[name] for name in kept}
        kept = dict(islice(kept.items(), max(1, len(kept) * 3 // 4)))


def _reduced(value: Any, most: int, path: str, counts: dict[str, int]) -> Any:
    """Return the value with at most `most` members in each list and object; no more of them could be shown."""
    if isinstance(value, list):
        counts.setdefault(path, len(value))
        return [_reduced(item, most, f"{path}[]", counts) for item in islice(value, most)]
    if isinstance(value, dict):
        counts.setdefault(path, len(value))
        members = islice(value.items(), most)
        return {name: _reduced(item, most, f"{path}.{name}" if path else name, counts) for name, item in members}
    return value


def _compact(value: Any) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def _readable(data: bytes) -> str:
    return json.dumps(json.loads(data.decode("utf-8", "surrogatepass")), ensure_ascii=False)
