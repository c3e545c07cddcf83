"""Shorten a text of many lines so that each line, or else both ends, can be read."""

from __future__ import annotations

#: The least characters of each line. With less room, lines in the middle are left out.
_LEAST = 60

#: Characters of the note on what is left out of a line.
_NOTE = 45


def shortened_lines(text: str, limit: int, advice: str) -> str:
    """Return a text of about `limit` characters: the longest lines are cut first, then the middle is left out.

    What is left out is counted, with `advice`, such as "print less". A text within the limit is unchanged.
    """
    if len(text) <= limit:
        return text
    lines = text.split("\n")
    has_room = limit // len(lines) >= _LEAST
    fits = _room([len(line) for line in lines], limit - len(lines)) if has_room else limit // 4
    room = max(fits - _NOTE, 0)
    cut = [line if len(line) <= fits else f"{line[:room]}{_left_out(len(line) - room, advice)}" for line in lines]
    return "\n".join(cut) if has_room else _ends(cut, [len(line) for line in lines], limit, advice)


def _room(lengths: list[int], limit: int) -> int:
    """Return the most characters of each line with which all lines fit."""
    left = limit
    for place, length in enumerate(sorted(lengths)):
        share = left // (len(lengths) - place)
        if length > share:
            return share
        left -= length
    return limit


def _ends(lines: list[str], lengths: list[int], limit: int, advice: str) -> str:
    """Return the first and the last lines, as many as fit. `lengths` are those of the whole lines."""
    first = _fitting(lines, limit // 2)
    last = _fitting(lines[first:][::-1], limit // 2)
    middle = sum(length + 1 for length in lengths[first : len(lines) - last])
    shown = [*lines[:first], _left_out(middle, advice).strip(), *lines[len(lines) - last :]]
    return "\n".join(shown)


def _fitting(lines: list[str], limit: int) -> int:
    """Return how many of the first lines fit."""
    for number, line in enumerate(lines):
        limit -= len(line) + 1
        if limit < 0:
            return number
    return len(lines)


def _left_out(characters: int, advice: str) -> str:
    return f"… ({characters:,} more characters: {advice})"
