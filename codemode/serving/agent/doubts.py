"""Reasons to ask a model again before its answer is accepted. Each kind is raised once for a message."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rapidfuzz import fuzz

from codemode.serving.agent.figures import without_source

if TYPE_CHECKING:
    from collections.abc import Iterable

_MISTAKE = "That is the error of your last call, not an answer. Correct the call and make it again."
_PROGRAMS = "None of your {} programs has run. Call execute with one program that does everything."
_FIGURES = "No result contains {}. Make a call for it."
_FOLLOWS = "No result contains {}, and it does not follow from a few of them. Answer again with how it follows."

#: Similarity of an answer to an error message, in percent, from which it repeats the message.
_ALIKE = 85
#: Characters of an answer from which it can be a part of an error message.
_PART = 20
#: Figures named in one message.
_NAMED = 5


class Doubts:
    """What speaks against an answer to one message. `known` are the texts of the conversation before its calls."""

    def __init__(self, known: Iterable[str], *, checks_figures: bool) -> None:
        self._texts = [*known]
        self._mistakes: list[str] = []
        self._checks_figures = checks_figures
        self._has_results = False
        self._raised: set[str] = set()

    def hear(self, text: str, *, ok: bool, unshown: Iterable[str] = ()) -> None:
        """Note the answer to a call, and the texts of results behind it that the model was not shown."""
        self._texts += (text, *unshown)
        if ok:
            self._has_results = True
            self._mistakes.clear()
        else:
            self._mistakes.append(text)

    def about(self, answer: str, *, programs: int = 0) -> str | None:
        """Return what to say to the model about its answer; None if the answer is accepted.

        `programs` is the number of programs in the answer that call tools and have not run.
        """
        if programs and not self._has_results and (doubt := self._once(_PROGRAMS, str(programs))):
            return doubt
        if any(_repeats(answer, mistake) for mistake in self._mistakes):
            return self._once(_MISTAKE)
        unknown = self.figures(answer)
        doubt = _FOLLOWS if self._has_results else _FIGURES
        return self._once(doubt, " or ".join(unknown[:_NAMED])) if unknown else None

    def figures(self, answer: str) -> tuple[str, ...]:
        """Return the figures in an answer that have no source."""
        if not self._checks_figures:
            return ()
        return without_source(answer, self._texts, has_results=self._has_results)

    def _once(self, doubt: str, *details: str) -> str | None:
        if doubt in self._raised:
            return None
        self._raised.add(doubt)
        return doubt.format(*details)


def _repeats(answer: str, mistake: str) -> bool:
    """Whether an answer is an error message, or a part of it, with few words around it."""
    said, message = (" ".join(text.casefold().split()) for text in (answer, mistake))
    first = " ".join(mistake.casefold().partition("\n")[0].split())
    is_within = (len(said) >= _PART and said in message) or (first in said and len(said) < 2 * len(first))
    return is_within or max(fuzz.ratio(said, message), fuzz.ratio(said, first)) >= _ALIKE
