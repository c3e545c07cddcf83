"""The name that somebody may have meant, for errors that suggest one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rapidfuzz import fuzz, process

if TYPE_CHECKING:
    from collections.abc import Iterable

#: From this likeness (0 to 100) on a name is a slip of the pen, and nearer than one of which it is a part.
_SLIP = 80

#: Below this likeness a name is no suggestion but noise.
_NEAR = 55

#: Longer ones are no names, and to compare a megabyte takes half a second.
_LONGEST = 512


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The one of `known` that is most like a name, in any case of letters; None where none is like it."""
    names = [*known] if len(name) <= _LONGEST else []
    for scorer, least in ((fuzz.ratio, _SLIP), (fuzz.WRatio, _NEAR)):
        found = process.extractOne(name, names, scorer=scorer, processor=str.casefold, score_cutoff=least)
        if found is not None:
            return found[0]
    return None


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """What a message about an unknown name goes on with: "; did you mean 'this'?", or nothing."""
    found = nearest(name, known)
    return "" if found is None else f"; did you mean {found!r}?"
