"""Texts of which a part may come up again: an index of everything that was read, in linear time and memory."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from codemode.features.flow.folding import folded, forms, mirrored

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    Windows = NDArray[np.uint64]

#: Bytes of letters and digits that make a part of a text known again. They fill one number.
WINDOW = 8

#: Bytes of a shorter text that is compared as a whole.
_SHORTEST = 2

#: Bytes of a short id within a text, of digits alone two more.
_SHORTEST_ID = 4

_ENDS, _PART = ".,:;!?()[]{}<>\"'", re.compile(r"[\w@.:/#+-]{1,16}")

_SIGN = re.compile(r"[0-9@./]")

#: Bytes of text that one index holds. The index needs eight times as much memory.
MOST_BYTES = 16 << 20

#: Characters that are read in one go, and those that two of these parts share: a code over their border is shorter.
_SLICE, _OVERLAP = 128 << 10, 2 << 10

_NONE: Windows = np.empty(0, np.uint64)


class Texts:
    """The parts of texts: all windows of their forms, as sorted numbers, and short texts as a whole.

    `is_full`: more was read than it holds, so that nothing can be said of a text that is not found. An index that
    `keeps` its texts also knows short texts that are a part of another.
    """

    def __init__(self, *, keeps: bool = False) -> None:
        self.is_full = False
        self._keeps = keeps
        self._kept: list[bytes] = []
        self._runs: list[Windows] = []  # sorted, each less than half as long as the one before
        self._short: set[bytes] = set()
        self._bytes = 0

    def __bool__(self) -> bool:
        return self.is_full or bool(self._short) or bool(self._runs)

    def add(self, texts: Iterable[str], *, without: Texts | None = None) -> None:
        """Add texts, but for the parts that occur in others. 16 MiB take a second: add them in a thread."""
        parts = []
        for text in texts:
            self._short.update(one for one in _short(text) if without is None or not without.has_short(one))
            for form in (form for part in _slices(text) for form in forms(part) if len(form) >= WINDOW):
                if self._keeps:
                    self._kept.append(form)
                self._bytes += len(form)
                if self._bytes > MOST_BYTES:
                    self.is_full = True
                    break
                windows = _windows(form)
                parts.append(windows[~without.holds(windows)] if without else windows)
        self._merge(_sorted([_NONE, *parts]))

    def add_as_written(self, texts: Iterable[str]) -> None:
        """Add texts without what they code."""
        self._merge(_sorted([_NONE, *(_windows(folded(text)) for text in texts)]))

    def _merge(self, run: Windows) -> None:
        """Keep few runs: as in a merge sort, each window is moved a logarithmic number of times."""
        if not len(run):
            return
        while self._runs and len(self._runs[-1]) < 2 * len(run):
            run = _sorted((self._runs.pop(), run))
        self._runs.append(run)

    def holds(self, windows: Windows) -> NDArray[np.bool_]:
        """Return which windows occur in the texts."""
        known = np.zeros(len(windows), np.bool_)
        for run in self._runs:
            places = np.searchsorted(run, windows)
            known |= run[np.minimum(places, len(run) - 1)] == windows
        return known

    def has_short(self, form: bytes) -> bool:
        """Return whether a form of fewer bytes than a window is one of the texts."""
        return form in self._short or any(form in kept for kept in self._kept)


def _slices(text: str) -> Iterator[str]:
    """Yield a text in parts that overlap. Other threads get their turns between them."""
    for start in range(0, max(len(text) - _OVERLAP, 1), _SLICE - _OVERLAP):
        yield text[start : start + _SLICE]


def _short(text: str) -> Iterator[bytes]:
    """Yield a text of fewer bytes than a window, else the short ids in it: `U4711`, `k@e.io`."""
    if len(text) < 4 * WINDOW:
        form = folded(text)
        if len(form) < WINDOW:
            yield form
            return
    for word in {word for word in text.split() if not word.isalpha()}:
        for part in _PART.findall(word) if len(word) > 2 * WINDOW else (word,):
            form = folded(part)
            if _SHORTEST_ID <= len(form) < WINDOW and _is_id(part.strip(_ENDS), form):
                yield form


def _is_id(word: str, form: bytes) -> bool:
    if form.isdigit():
        return len(form) > _SHORTEST_ID + 1
    return not word.isalpha() and _SIGN.search(word) is not None


def _sorted(runs: Sequence[Windows]) -> Windows:
    """Return all windows, each once, in order. (`numpy.unique` takes a hundred times as long.)"""
    windows = np.sort(np.concatenate(runs))
    is_new = np.empty(len(windows), np.bool_)
    is_new[:1] = True
    np.not_equal(windows[1:], windows[:-1], out=is_new[1:])
    return windows[is_new]


def _windows(form: bytes) -> Windows:
    """Return the windows of a form in order: each eight bytes as one number."""
    count = len(form) - WINDOW + 1
    if count < 1:
        return _NONE
    padded = form + b"\0" * WINDOW
    windows = np.empty((count + WINDOW - 1) // WINDOW * WINDOW, np.uint64)
    for first in range(WINDOW):
        each = np.frombuffer(padded, "<u8", offset=first, count=(len(padded) - first) // WINDOW)
        windows[first::WINDOW] = each[: len(windows) // WINDOW]
    return windows[:count]


def covers(texts: Texts, text: str) -> bool:
    """Return whether all of a text occurs in texts, in each of its forms."""
    return all(
        texts.holds(_windows(form)).all() if len(form) >= WINDOW else not form or texts.has_short(form)
        for part in _slices(text)
        for form in forms(part)
    )


def others(text: str, known: Sequence[Texts]) -> int:
    """Return how many bytes of a text, in folded form, occur in none of these texts."""
    form = folded(text)
    windows = _windows(form)
    covered = np.zeros(len(form), np.bool_)
    for one in known:
        for place in np.flatnonzero(one.holds(windows)):
            covered[place : place + WINDOW] = True
    return int(len(form) - covered.sum())


def _queried(text: str, *, mirrors: bool) -> Iterator[bytes]:
    for part in _slices(text):
        yield from forms(part)
        yield from map(folded, mirrored(part)) if mirrors else ()


def common(text: str, untrusted: Texts, trusted: Sequence[Texts]) -> bytes | None:
    """Return the first part of a text, in folded form, that occurs in untrusted texts and in no trusted one.

    None: it has no such part. A text of fewer bytes than a window is compared as a whole. Where the untrusted texts are
    not all known, every part that is not trusted is returned.
    """
    if not untrusted:
        return None
    for form in _queried(text, mirrors=not untrusted.is_full):
        if len(form) < WINDOW:
            if len(form) >= _SHORTEST and untrusted.has_short(form) and not any(one.has_short(form) for one in trusted):
                return form
            continue
        windows = _windows(form)
        is_suspect = np.ones(len(windows), np.bool_) if untrusted.is_full else untrusted.holds(windows)
        for one in trusted if is_suspect.any() else ():
            is_suspect &= ~one.holds(windows)
        places = np.flatnonzero(is_suspect)
        if len(places):
            return form[places[0] : places[0] + WINDOW]
    return None
