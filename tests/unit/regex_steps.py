"""Count what a backtracking matcher does with an expression and a text: a figure that no machine changes.

It takes the same ways as `re`, from the same parse tree, and leaves single characters and positions to `re` itself.
"""

from __future__ import annotations

import math
import re
import sys
from contextlib import contextmanager
from functools import cache
from re import _compiler as compiler  # type: ignore[attr-defined]
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    #: What comes next: the end of a match that begins at a position, or None.
    Next = Callable[[int], int | None]
    #: A part of an expression: it tries the text from a position, and what comes next behind it.
    Part = Callable[[int, Next], int | None]

_CHARACTERS = (codes.LITERAL, codes.NOT_LITERAL, codes.ANY, codes.IN)
_REPEATS = (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT)
_FLAGS = re.IGNORECASE | re.MULTILINE | re.DOTALL | re.ASCII | re.UNICODE


class TooManySteps(Exception):
    """More steps than the measurement was to take."""


class Steps:
    """An expression as a matcher that counts. It raises TooManySteps beyond `most`."""

    def __init__(self, pattern: re.Pattern[Any]) -> None:
        text = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
        flags = pattern.flags if isinstance(pattern.pattern, str) else pattern.flags & ~re.UNICODE | re.ASCII
        tree = parser.parse(text, flags)
        self.count = 0
        self.most = math.inf
        self._state = tree.state
        self._text = ""
        self._spans: dict[int, tuple[int, int] | None] = {}
        self._match = self._sequence(list(tree), tree.state.flags)

    def matches(self, text: str, *, is_search: bool, is_whole: bool = False) -> list[tuple[int, int]]:
        """Return the matches from the beginning of the text, or of a whole search, as `finditer` does."""
        self._text, self._spans = text, {}
        ends: list[tuple[int, int]] = []
        start, forbidden = 0, -1
        with _deep():
            while start <= len(text):
                end = self._match(start, self._last(forbidden, is_whole=is_whole))
                if end is not None:
                    ends.append((start, end))
                if not is_search:
                    break
                # An empty match is followed by one that is not empty, or by one further on.
                forbidden = start if end == start else -1
                start = start + 1 if end is None else end
        return ends

    def _last(self, forbidden: int, *, is_whole: bool) -> Next:
        return lambda at: None if at == forbidden or (is_whole and at < len(self._text)) else at

    def _step(self, number: int = 1) -> None:
        self.count += number
        if self.count > self.most:
            raise TooManySteps

    def _sequence(self, items: list[Any], flags: int) -> Part:
        parts = [self._part(kind, value, flags) for kind, value in items]
        if len(parts) == 1:
            return parts[0]

        def chain(at: int, then: Next, index: int = 0) -> int | None:
            if index == len(parts):
                return then(at)
            return parts[index](at, lambda end: chain(end, then, index + 1))

        return chain

    def _part(self, kind: Any, value: Any, flags: int) -> Part:
        if kind in _CHARACTERS:
            return self._character(self._test(kind, value, flags))
        if kind in _REPEATS:
            least, most, inner = value
            if len(inner) == 1 and inner[0][0] in _CHARACTERS:
                return self._repeated_character(kind, least, most, self._test(*inner[0], flags))
            return self._repeat(kind, least, most, self._sequence(list(inner), flags))
        return {
            codes.AT: self._position,
            codes.BRANCH: self._branch,
            codes.SUBPATTERN: self._group,
            codes.ATOMIC_GROUP: self._atomic,
            codes.ASSERT: self._look,
            codes.ASSERT_NOT: self._look_away,
            codes.GROUPREF: self._reference,
        }[kind](value, flags)

    def _compiled(self, item: tuple[Any, Any], flags: int) -> re.Pattern[str]:
        compiled: re.Pattern[str] = compiler.compile(parser.SubPattern(self._state, [item]), flags & _FLAGS)
        return compiled

    def _test(self, kind: Any, value: Any, flags: int) -> Callable[[str], bool]:
        compiled = self._compiled((kind, value), flags)
        return cache(lambda sign: compiled.match(sign) is not None)

    def _character(self, test: Callable[[str], bool]) -> Part:
        def one(at: int, then: Next) -> int | None:
            self._step()
            return then(at + 1) if at < len(self._text) and test(self._text[at]) else None

        return one

    def _repeated_character(self, kind: Any, least: int, most: int, test: Callable[[str], bool]) -> Part:
        if kind is codes.MIN_REPEAT:
            return self._shortest(least, most, test)
        return self._longest(least, most, test, is_possessive=kind is codes.POSSESSIVE_REPEAT)

    def _run(self, at: int, most: int, test: Callable[[str], bool]) -> int:
        text, end, last = self._text, at, min(len(self._text), at + most)
        while end < last and test(text[end]):
            end += 1
        self._step(end - at + 1)
        return end

    def _longest(self, least: int, most: int, test: Callable[[str], bool], *, is_possessive: bool) -> Part:
        def longest(at: int, then: Next) -> int | None:
            end = self._run(at, most, test)
            if end < at + least:
                return None
            for stop in range(end, (end if is_possessive else at + least) - 1, -1):
                self._step()
                if (whole := then(stop)) is not None:
                    return whole
            return None

        return longest

    def _shortest(self, least: int, most: int, test: Callable[[str], bool]) -> Part:
        def shortest(at: int, then: Next) -> int | None:
            end = self._run(at, least, test)
            if end < at + least:
                return None
            while (whole := then(end)) is None:
                self._step()
                if end - at >= most or end >= len(self._text) or not test(self._text[end]):
                    return None
                end += 1
            return whole

        return shortest

    def _repeat(self, kind: Any, least: int, most: int, inner: Part) -> Part:
        def again(at: int, then: Next, count: int, last: int) -> int | None:
            self._step()
            more = count < most and (count < least or at != last)
            if kind is codes.MIN_REPEAT and count >= least and (whole := then(at)) is not None:
                return whole
            if more and (whole := inner(at, lambda end: again(end, then, count + 1, at))) is not None:
                return whole
            return then(at) if kind is not codes.MIN_REPEAT and count >= least else None

        def possessive(at: int, then: Next) -> int | None:
            end = again(at, lambda end: end, 0, -1)
            return None if end is None else then(end)

        return possessive if kind is codes.POSSESSIVE_REPEAT else lambda at, then: again(at, then, 0, -1)

    def _position(self, value: Any, flags: int) -> Part:
        compiled = self._compiled((codes.AT, value), flags)

        def here(at: int, then: Next) -> int | None:
            self._step()
            return then(at) if compiled.match(self._text, at) else None

        return here

    def _branch(self, value: Any, flags: int) -> Part:
        branches = [self._sequence(list(branch), flags) for branch in value[1]]

        def one(at: int, then: Next) -> int | None:
            for branch in branches:
                self._step()
                if (whole := branch(at, then)) is not None:
                    return whole
            return None

        return one

    def _group(self, value: Any, flags: int) -> Part:
        number, added, removed, items = value
        inner = self._sequence(list(items), (flags | added) & ~removed)
        if number is None:
            return inner

        def group(at: int, then: Next) -> int | None:
            before = self._spans.get(number)

            def ended(end: int) -> int | None:
                held = self._spans.get(number)
                self._spans[number] = (at, end)
                if (whole := then(end)) is None:
                    self._spans[number] = held
                return whole

            if (whole := inner(at, ended)) is None:
                self._spans[number] = before
            return whole

        return group

    def _atomic(self, value: Any, flags: int) -> Part:
        inner = self._sequence(list(value), flags)

        def atomic(at: int, then: Next) -> int | None:
            end = inner(at, lambda end: end)
            return None if end is None else then(end)

        return atomic

    def _looks(self, value: Any, flags: int) -> Callable[[int], bool]:
        direction, items = value
        inner = self._sequence(list(items), flags)
        back = items.getwidth()[0] if direction < 0 else 0
        return lambda at: at >= back and inner(at - back, lambda end: end) is not None

    def _look(self, value: Any, flags: int) -> Part:
        looks = self._looks(value, flags)
        return lambda at, then: then(at) if looks(at) else None

    def _look_away(self, value: Any, flags: int) -> Part:
        looks = self._looks(value, flags)
        return lambda at, then: None if looks(at) else then(at)

    def _reference(self, value: Any, flags: int) -> Part:
        assert not flags & re.IGNORECASE

        def repeated(at: int, then: Next) -> int | None:
            span = self._spans.get(value)
            if span is None:
                return None
            part = self._text[slice(*span)]
            self._step(len(part) + 1)
            return then(at + len(part)) if self._text.startswith(part, at) else None

        return repeated


@contextmanager
def _deep() -> Iterator[None]:
    """Let calls nest as deep as a text is long."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(1_000_000)
    try:
        yield
    finally:
        sys.setrecursionlimit(before)
