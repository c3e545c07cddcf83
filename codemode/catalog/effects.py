"""Decide the effect of an operation: from what its author declares, its HTTP method, and its words.

Every source kind decides here. The operator's setting `effect` is applied later and beats all of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from codemode.catalog.change_words import change_of_name, change_of_text, reads_by_name
from codemode.catalog.effect_words import leading_word, word_of_names, word_of_text
from codemode.catalog.tool import Effect

if TYPE_CHECKING:
    from collections.abc import Iterable

_ORDER = (Effect.READ, Effect.WRITE, Effect.DESTRUCTIVE)

#: The effect of each HTTP method. Any other method is destructive.
_METHODS = dict.fromkeys(("GET", "HEAD", "OPTIONS", "TRACE", "QUERY", "SEARCH"), Effect.READ) | dict.fromkeys(
    ("POST", "PUT", "PATCH", "MERGE"), Effect.WRITE
)


class Judgement(NamedTuple):
    """The effect of an operation, and its reason: `word` decided, or the author declared it (`is_said`)."""

    effect: Effect
    word: str = ""
    is_said: bool = False


def worst(effects: Iterable[Effect]) -> Effect:
    """Return the worst effect; `read` if there are none."""
    return max(effects, key=_ORDER.index, default=Effect.READ)


def exceeds(effect: Effect, limit: Effect) -> bool:
    """Whether an effect is worse than another."""
    return _ORDER.index(effect) > _ORDER.index(limit)


def effect_of_method(method: str) -> Effect:
    """Return the effect of an HTTP method. Unknown methods are destructive."""
    return _METHODS.get(method.strip().upper(), Effect.DESTRUCTIVE)


def effect_of_verb(name: str) -> Effect:
    """Return the effect by the verb of a name alone, for APIs that keep to a vocabulary: `ListBuckets` reads."""
    return Effect.READ if reads_by_name(name) else judge(None, Effect.WRITE, (name,)).effect


def judge(
    said: Effect | None, unsaid: Effect, names: tuple[str, ...], *texts: str, hint: Effect | None = None
) -> Judgement:
    """Return the effect of an operation, with the reason.

    `said` is what the operator's own code or file declares: it decides. `hint` is what a foreign server declares, and
    `unsaid` the effect by kind or HTTP method: words can raise both. `names` are the names of the operation, `texts`
    its summary and description.
    """
    if said is not None:
        return Judgement(said, is_said=True)
    if hint is None:
        return _by_words(unsaid, names, texts)
    if hint is Effect.DESTRUCTIVE:
        return Judgement(hint, is_said=True)
    destructive = _by_words(Effect.WRITE, names, texts)
    if destructive.effect is Effect.DESTRUCTIVE:
        return destructive
    if hint is Effect.READ:
        changing = change_of_name(names[0]) or next((word for text in texts if (word := change_of_text(text))), "")
        if changing:
            return Judgement(Effect.WRITE, changing)
    return Judgement(hint, is_said=True)


def _by_words(effect: Effect, names: tuple[str, ...], texts: tuple[str, ...]) -> Judgement:
    """Return a write as destructive if its names or texts say so.

    A read becomes a change only if a name says so and a text agrees, or there is no text (`GET /auth.revoke`).
    """
    if effect is Effect.DESTRUCTIVE:
        return Judgement(effect)
    word = word_of_names(names, texts)
    if effect is Effect.READ:
        if word and (any(map(leading_word, texts)) or not any(texts)):
            return Judgement(Effect.DESTRUCTIVE, word)
        changing = change_of_name(names[0]) if names else ""
        agrees = any(map(change_of_text, texts)) or not any(texts)
        return Judgement(Effect.WRITE, changing) if changing and agrees else Judgement(effect)
    word = word or next((found for text in texts if (found := word_of_text(text))), None)
    return Judgement(Effect.DESTRUCTIVE, word) if word else Judgement(effect)
