"""Words that say that an operation destroys something: in its name, its summary and its description.

`effect_table` holds the words. A name destroys by its verb (`bulk_delete_clients`, `productDelete`, `system.reset`).
A text destroys by the verb that begins its first sentence ("Deletes up to 200 clients"), or by saying that nothing
brings the thing back ("This cannot be undone"). A mention does not count: participles (`deleted_at`), nouns behind
another verb (`get_delete_policy`), negations ("does not delete"), conditions.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from codemode.catalog.effect_table import (
    ALWAYS,
    BEFORE,
    DETERMINERS,
    FOREIGN,
    IRREVERSIBLE,
    MILD_ALONE,
    NOUNS,
    OF_A_VALUE,
    OTHER_VERBS,
    PREPOSITIONS,
    SOME_OBJECTS,
    SPECIFIC,
    THINGS,
    UNSPACED,
)
from codemode.catalog.identifiers import snake
from codemode.catalog.tool import Effect
from codemode.text.normal_form import normalized
from codemode.text.prose import plain

#: Letters that Unicode does not take apart.
_LETTERS = str.maketrans({"\u0142": "l", "\u00f8": "o", "\u0131": "i", "\u2019": "'"})


def _folded(text: str) -> str:
    """Small letters without marks; scripts in which marks are letters keep them."""
    if text.isascii():
        return text.lower()
    taken = normalized("NFKD", text.lower().translate(_LETTERS))
    return normalized("NFC", "".join(char for char in taken if not "\u0300" <= char <= "\u036f"))


_FOREIGN = frozenset(_folded(word) for words in FOREIGN.values() for word in words.split())

#: What a later sentence says in so many words: "This deletes the history", "All data will be lost".
_LATER = (
    r"^(?:(?:this|it)(?: \w+)? (?:will )?(?:also )?(?:permanently )?(?:delete|destroy|erase|purge|wipe)s? "
    r"|all .* will be (?:permanently )?(?:deleted|destroyed|erased|lost|purged|wiped)\b)"
)
#: Where a capital follows a small letter of any script.
_CAMEL = re.compile(r"(?<=[a-z\u00df-\u00ff\u0430-\u045f])(?=[A-Z\u00c0-\u00de\u0400-\u042f])")
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
_NAME = re.compile(r"[^\W_]+(?:[-_./:]+[^\W_]+)+|[a-z]+(?:[A-Z][a-z0-9]+)+|[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]+)+")
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|[\u3002\uff01\uff1f\uff1b\n]+")
_IRREVERSIBLE = re.compile("|".join((*IRREVERSIBLE, _LATER)))
_CONDITION = re.compile(r"\b(if|unless|until|whether|when|where|except|again|avoid|prevents?|before|instead|rather)\b")
_NEGATED = re.compile(
    r"\b(nicht|ohne|kein\w*|nie|sans|ne|pas|jamais|sin|no|nunca|sem|nao|senza|non|mai|niet|zonder|geen|nie|bez|inte|utan"
    r"|ikke|uden|uten|bez|не|без|нет|لا|not|without|never)\b"
)
#: Signs beside a word of `UNSPACED` that it did not, or must not, happen: "已删除的", "削除された", "삭제되지".
_UNSPACED_MENTION = re.compile(
    r"(?:已|被|未|不|不会|没有|勿|无法|防止|取消|恢复|撤销){0}|(?:{0})(?:さ(?:れ|せ)|済|しな|せず|の取り消し|된|되|하지|保护|标记|记录|状态|日志)".format(
        "(?:" + "|".join(UNSPACED) + ")"
    )
)
#: What stands before the verb of a first sentence: "Use this endpoint to …", "This operation will …".
_LEAD = re.compile(
    r"^(?:(?:please )?use(?:d)? (?:this |the )?(?:\w+ ){0,3}?(?:to|for) "
    r"|(?:this|the) (?:\w+ ){0,3}?(?:will|can|lets you|is used to|can be used to|allows? you to|enables you to) "
    r"|(?:this|the) (?:(?:api|http|post|put|patch|rest) )?(?:action|api|call|command|endpoint|function|method|operation"
    r"|request|route|tool) (?:also )?"
    r"|(?:it|this|that) (?:will |also )*"
    r"|(?:allows?|enables?|lets?|permits?) (?:(?:an? |the )?(?:\w+ ){0,2}?to )?(?:you )?"
    r"|(?:an? |the )?(?:api|endpoint|function|method|operation|request|tool|utility|command) (?:to|for|that|which) )"
)
#: A French word that is an English one too.
_SUPPRESSION = re.compile(r"suppression (?:de|du|des|d'\w+|multiple)\b")
#: A further verb of a first sentence that began with a verb: "Archives and deletes", "create, update or delete".
_FURTHER = re.compile(
    r"(?:,? (?:and|or|and/or|then|&)|,|/)(?: then| also)? ((?:permanently |optionally |bulk )?[a-z]+)"
)
#: A verb with which "remove" is but the other half of a change: "Add or remove members".
_ADDING = re.compile(r"\b(add|append|assign|insert|attach|set)(s|ing|es)?\b")
_SUBORDINATE = re.compile(r"\b(whether|when|that|which|who|can|could|to|if|how|for|permissions?|allow\w*|from)\b")

_LONGEST_TEXT = 3_000  # characters that are read of a description
_LONGEST_NAME = 200
_OBJECT_WORDS = 4  # words after a verb in which its object is looked for
_SOME = {verb: frozenset(objects.split()) for verb, objects in SOME_OBJECTS.items()}


class Judgement(NamedTuple):
    """What an operation does: by the `word` that decided, or because its author said so."""

    effect: Effect
    word: str = ""
    is_said: bool = False


def judge(said: Effect | None, unsaid: Effect, names: tuple[str, ...], *texts: str) -> Judgement:
    """The effect that the author said, else that of the words, else `unsaid`, which the method or nothing tells."""
    if said is not None:
        return Judgement(said, is_said=True)
    return Judgement(*effect_of(unsaid, names, *texts))


def effect_of(effect: Effect, names: tuple[str, ...], *texts: str) -> tuple[Effect, str]:
    """The effect of an operation after its words, and the word that decided, which is empty where none did.

    `effect` is what its method says, `names` what it is called, `texts` its summary and its description. A read stays
    one, unless a name and a text both say that it destroys (`GET /auth.revoke`, "Revokes a token").
    """
    if effect is Effect.DESTRUCTIVE:
        return effect, ""
    named = _named(names, texts)
    if effect is Effect.READ:
        is_said = named is not None and any(_led(text) for text in texts)
        return (Effect.DESTRUCTIVE, named or "") if is_said else (effect, "")
    word = named or next((word for text in texts if (word := _of_text(text))), None)
    return (Effect.DESTRUCTIVE, word) if word else (effect, "")


def destructive_word(text: str) -> str | None:
    """The word of a name or a text that says that something is destroyed; None where none does.

    A text may begin with a name: "gym.clients.bulk_delete Deletes up to 200 clients".
    """
    first, _, rest = text.strip().partition(" ")
    if not rest:
        return _of_name(first)
    return (_of_name(first) if _NAME.fullmatch(first) else None) or _of_text(rest if _NAME.fullmatch(first) else text)


def _named(names: tuple[str, ...], texts: tuple[str, ...]) -> str | None:
    """The word by which an operation's names destroy; the later ones are asked where the first has no other verb."""
    first = next(iter(_words(names[0])), "") if names else ""
    for name in names[:1] if first in OTHER_VERBS else names:
        word = _of_name(name)
        if word is not None and not (
            word in _SOME and any(_means_less(word, told) for told in (*names, *texts) if told)
        ):
            return word
    return None


# --- names ---------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=65_536)
def _of_name(name: str) -> str | None:
    """The word by which a name destroys: of its last part, where dots, slashes or colons divide it."""
    part = _last_part(name)
    words = _words(name)
    found = _verb_of(words)
    if found is not None or not words:
        return found
    foreign = next((word for word in words if word in _FOREIGN), None)
    if foreign is not None and OTHER_VERBS.isdisjoint(words[: words.index(foreign)]):
        return foreign
    return None if part.isascii() else _unspaced(part)


def _last_part(name: str) -> str:
    return re.split(r"[./:]", name.strip("./: "))[-1][:_LONGEST_NAME]


def _words(name: str) -> list[str]:
    part = _last_part(name)
    joined = snake(part) if part.isascii() else _folded(_CAMEL.sub("_", part)).replace("-", "_")
    return [word for word in joined.split("_") if word]


def _verb_of(words: list[str]) -> str | None:
    """The verb of a name: the first word, one joined to it by "and", or the last, where no other verb is before it."""
    start = next((place for place, word in enumerate(words) if word not in BEFORE), len(words))
    for place, word in enumerate(words):
        is_last = place == len(words) - 1 and OTHER_VERBS.isdisjoint(words[:place]) and word not in MILD_ALONE
        is_verb = place <= start or words[place - 1] in ("and", "or", "then") or is_last
        if is_verb and (_destroys(word, words[place + 1 :], words[:place]) or (word in NOUNS and place > 0)):
            follows = words[place + 1] if place + 1 < len(words) else ""
            if word in ALWAYS and place == start and follows in THINGS and len(words) > place + 2:
                continue
            return word
    return None


def _destroys(word: str, after: list[str], before: list[str]) -> bool:
    """Whether a verb with these words around it destroys: by itself, or by its object."""
    if word not in ALWAYS and word not in _SOME:
        return False
    objects = _objects(after)
    if word in ALWAYS:
        return not (objects and word in ("remove", "prune") and objects[0] in OF_A_VALUE)
    if objects:
        return objects[-1] not in SPECIFIC and not _SOME[word].isdisjoint(objects[:2])
    named = before[-1] if before else ""
    return named in _SOME[word] or (not named and word not in MILD_ALONE)


def _objects(after: list[str]) -> list[str]:
    """What a verb is said of: the words behind it up to a preposition, without articles and "all"."""
    end = next((place for place, word in enumerate(after) if word in PREPOSITIONS), len(after))
    return [word for word in after[:end] if word not in DETERMINERS][:_OBJECT_WORDS]


def _means_less(verb: str, told: str) -> bool:
    """Whether a name or a text begins with the verb and an object that the verb does not destroy."""
    words = _words(told) if " " not in told else _WORD.findall(next(iter(_sentences(told)), ""))
    words = [word for word in words if word not in BEFORE]
    return (
        bool(words)
        and _plain_verb(words[0]) == verb
        and bool(_objects(words[1:]))
        and not _destroys(verb, words[1:], [])
    )


# --- texts ---------------------------------------------------------------------------------------------------------


def _of_text(text: str) -> str | None:
    """The word by which a summary or a description says that its operation destroys."""
    return _led(text) or _promised(text)


def _led(text: str) -> str | None:
    """The destroying verb that a text's first sentence begins with, or has beside the one that it begins with."""
    sentence = next(iter(_sentences(text)), "")
    if not sentence:
        return None
    words = _WORD.findall(sentence)
    verb = _leading(words, sentence)
    return verb or _further(sentence) or _foreign(words, sentence) or _unspaced(sentence)


def _leading(words: list[str], sentence: str) -> str | None:
    rest = _LEAD.sub("", sentence, count=1)
    told = _WORD.findall(rest) if rest != sentence else words
    place = next((place for place, word in enumerate(told) if word not in BEFORE), len(told))
    if place == len(told):
        return None
    verb = _stem(told[place])
    if verb is not None and _destroys(verb, told[place + 1 :], []):
        return told[place]
    nouns = told[place : place + 3]
    return next((word for at, word in enumerate(nouns) if word in NOUNS and _is_head(told, place + at)), None)


def _is_head(words: list[str], place: int) -> bool:
    """Whether a noun is what a sentence is about: "Account deletion", "Removal of a user"."""
    after = words[place + 1] if place + 1 < len(words) else ""
    return after in ("", "of", "for", "from", "by") and OTHER_VERBS.isdisjoint(map(_plain_verb, words[:place]))


def _further(sentence: str) -> str | None:
    for found in _FURTHER.finditer(sentence):
        word = found[1].rpartition(" ")[2]
        verb = _stem(word)
        if verb is None or verb in MILD_ALONE or word.endswith("ing"):
            continue
        if _SUBORDINATE.search(_LEAD.sub("", sentence[: found.start()], count=1)) or _NEGATED.search(
            sentence[: found.end()]
        ):
            return None
        if verb == "remove" and _ADDING.search(sentence[: found.start()]):
            continue
        after = _WORD.findall(sentence[found.end() :])
        if _destroys(verb, after, []):
            return word
    return None


def _foreign(words: list[str], sentence: str) -> str | None:
    found = next((word for word in words if word in _FOREIGN), None)
    if found is None and _SUPPRESSION.match(sentence):
        found = "suppression"
    return None if found is None or _NEGATED.search(sentence) else found


def _unspaced(sentence: str) -> str | None:
    if sentence.isascii():
        return None
    told = _UNSPACED_MENTION.sub(" ", sentence)
    return next((word for word in UNSPACED if word in told), None)


def _promised(text: str) -> str | None:
    """What a text says of there being no way back."""
    for sentence in _sentences(text):
        found = _IRREVERSIBLE.search(sentence)
        if found and not _CONDITION.search(sentence):
            return found[0]
    return None


@lru_cache(maxsize=64)
def _sentences(text: str) -> tuple[str, ...]:
    """The sentences of a text in small letters without marks."""
    told = plain(text[:_LONGEST_TEXT]).replace("cannot", "can not")
    return tuple(sentence.strip() for sentence in _SENTENCE.split(_folded(told)) if sentence.strip())


def _stem(word: str) -> str | None:
    """The verb of a form that begins a sentence: `delete`, `deletes`, `deleting`; None for a participle and others."""
    verb = _plain_verb(word)
    return verb if verb in ALWAYS or verb in _SOME else None


def _plain_verb(word: str) -> str:
    if word in ALWAYS or word in _SOME:
        return word
    if word.endswith("ing"):
        stem = word[:-3]
        doubled = stem[:-1] if stem[-2:-1] == stem[-1:] else stem
        return next((one for one in (stem, f"{stem}e", doubled) if one in ALWAYS or one in _SOME), stem)
    for ending, put in (("ies", "y"), ("es", ""), ("s", "")):
        if word.endswith(ending):
            verb = word.removesuffix(ending) + put
            if verb in ALWAYS or verb in _SOME or verb in OTHER_VERBS:
                return verb
    return word
