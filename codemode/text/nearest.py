"""Closest matches for unknown names, for error messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

#: A similarity (0 to 100) that indicates a typo. Such a match beats a partial match.
_SLIP = 80

#: Below this similarity a suggestion is noise.
_NEAR = 60

#: Longer inputs are not names; comparing a megabyte takes half a second.
_LONGEST = 512


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the closest of the known names, ignoring case, or None if none is similar."""
    from rapidfuzz import fuzz, process

    names = [*known] if len(name) <= _LONGEST else []
    for scorer, least in ((fuzz.ratio, _SLIP), (fuzz.WRatio, _NEAR)):
        found = process.extractOne(name, names, scorer=scorer, processor=str.casefold, score_cutoff=least)
        if found is not None:
            return found[0]
    return None


def several_nearest(name: str, known: Iterable[str], most: int) -> list[str]:
    """Return up to `most` of the closest known names, best first. Empty if none is similar."""
    from rapidfuzz import fuzz, process

    names = [*known] if len(name) <= _LONGEST else []
    rows = process.extract(name, names, scorer=fuzz.WRatio, processor=str.casefold, score_cutoff=_NEAR, limit=most)
    return [row[0] for row in rows]


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return "; did you mean 'this'?" to append to a message, or an empty string."""
    found = nearest(name, known)
    return "" if found is None else f"; did you mean {found!r}?"
