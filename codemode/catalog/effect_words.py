"""Recognize destructive operations by the words in their name, summary and description.

`effect_table` holds the words. A name is destructive by its verb: `bulk_delete_clients`, `productDelete`,
`system.reset`. A text is destructive if its first sentence begins with such a verb ("Deletes up to 200 clients"), or if
it says that the effect is permanent ("This cannot be undone"). Mentions do not count: participles (`deleted_at`), nouns
after another verb (`get_delete_policy`), negations ("does not delete") and conditions.
"""

from __future__ import annotations

import re
from functools import lru_cache

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
from codemode.text.normal_form import normalized
from codemode.text.prose import plain

#: Letters that Unicode does not decompose.
_LETTERS = str.maketrans({"\u0142": "l", "\u00f8": "o", "\u0131": "i", "\u2019": "'"})


def _folded(text: str) -> str:
    """Return the text in lower case without diacritics. Other scripts keep their combining marks."""
    if text.isascii():
        return text.lower()
    decomposed = normalized("NFKD", text.lower().translate(_LETTERS))
    return normalized("NFC", "".join(char for char in decomposed if not "\u0300" <= char <= "\u036f"))


_FOREIGN = frozenset(_folded(word) for words in FOREIGN.values() for word in words.split())

#: Statements in later sentences: "This deletes the history", "All data will be lost".
_PLAIN_STATEMENT = (
    r"^(?:(?:this|it)(?: \w+)? (?:will )?(?:also )?(?:permanently )?(?:delete|destroy|erase|purge|wipe)s? "
    r"|all .* will be (?:permanently )?(?:deleted|destroyed|erased|lost|purged|wiped)\b)"
)
#: What any clause may say: "deletes the duplicate", "deleting the other", "the duplicate is deleted".
_STATEMENT = re.compile(
    r"(?:^|[:;,(/\u2013\u2014] ?|\band |\bthen |\bbut |\bby )"
    r"(?:and |then |also |it |this |permanently |irrevocably ){0,4}"
    r"((?:delet|destroy|eras|purg|wip|obliterat)e?(?:s|ing)) (?!from\b)"
    r"|\b(?:is|are|be|gets?) (?:then |also |permanently |irrevocably |immediately ){0,4}"
    r"(deleted|destroyed|erased|purged|wiped|lost)\b"
)
#: Sentences with a statement that may be about something else: a state, another agent, a later time.
_ELSEWHERE = re.compile(
    r"\b(after|once|days?|hours?|minutes?|seconds?|expires?d?|already|been|being|that|which|who|whose|whatever|can|could"
    r"|may|might|must|should|would|returns?|returned|errors?|example|i\.e|e\.g|nothing|anything|only|how|what|note)\b"
)
#: The border between a lower-case and an upper-case letter, in Latin and Cyrillic script.
_CAMEL = re.compile(r"(?<=[a-z\u00df-\u00ff\u0430-\u045f])(?=[A-Z\u00c0-\u00de\u0400-\u042f])")
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?")
_NAME = re.compile(r"[^\W_]+(?:[-_./:]+[^\W_]+)+|[a-z]+(?:[A-Z][a-z0-9]+)+|[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]+)+")
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|[\u3002\uff01\uff1f\uff1b\n]+")
_IRREVERSIBLE = re.compile("|".join((*IRREVERSIBLE, _PLAIN_STATEMENT)))
_CONDITION = re.compile(r"\b(if|unless|until|whether|when|where|except|again|avoid|prevents?|before|instead|rather)\b")
_NEGATED = re.compile(
    r"\b(nicht|ohne|kein\w*|nie|sans|ne|pas|jamais|sin|no|nunca|sem|nao|senza|non|mai|niet|zonder|geen|nie|bez|inte|utan"
    r"|ikke|uden|uten|bez|не|без|нет|لا|not|without|never)\b"
)
#: Words of `UNSPACED` in the passive, the past or a negation: "已删除的", "削除された", "삭제되지".
_UNSPACED_MENTION = re.compile(
    r"(?:已|被|未|不|不会|没有|勿|无法|防止|取消|恢复|撤销){0}|(?:{0})(?:さ(?:れ|せ)|済|しな|せず|の取り消し|된|되|하지|保护|标记|记录|状态|日志)".format(
        "(?:" + "|".join(UNSPACED) + ")"
    )
)
#: Phrases before the verb of a first sentence: "Use this endpoint to …", "This operation will …".
_LEAD = re.compile(
    r"^(?:(?:please )?use(?:d)? (?:this |the )?(?:\w+ ){0,3}?(?:to|for) "
    r"|(?:this|the) (?:\w+ ){0,3}?(?:will|can|lets you|is used to|can be used to|allows? you to|enables you to) "
    r"|(?:this|the) (?:(?:api|http|post|put|patch|rest) )?(?:action|api|call|command|endpoint|function|method|operation"
    r"|request|route|tool) (?:also )?"
    r"|(?:(?:it|this|that|you) )?(?:will|would|can|may|going to) (?:also |then |be used to )*"
    r"|(?:it|this|that) (?:will |also )*"
    r"|(?:allows?|enables?|lets?|permits?) (?:(?:an? |the )?(?:\w+ ){0,2}?to )?(?:you )?"
    r"|(?:an? |the )?(?:api|endpoint|function|method|operation|request|tool|utility|command) (?:to|for|that|which) "
    r"(?:will |can )?)"
)
#: "Suppression" is also an English word. It counts only in a French phrase.
_SUPPRESSION = re.compile(r"suppression (?:de|du|des|d'\w+|multiple)\b")
#: A further verb in a first sentence that begins with a verb: "Archives and deletes", "create, update or delete".
_FURTHER = re.compile(
    r"(?:,? (?:and|or|and/or|then|&)|,|/)(?: then| also| will)* ((?:permanently |optionally |bulk )?[a-z]+)"
)
#: Verbs beside which "remove" is half of a change: "Add or remove members".
_ADDING = re.compile(r"\b(add|append|assign|insert|attach|set)(s|ing|es)?\b")
_SUBORDINATE = re.compile(r"\b(whether|when|that|which|who|can|could|to|if|how|for|permissions?|allow\w*|from)\b")

_LONGEST_TEXT = 3_000  # the characters of a description that are read
_LONGEST_NAME = 200
_OBJECT_WORDS = 4  # the words after a verb that may be its object
_SOME = {verb: frozenset(objects.split()) for verb, objects in SOME_OBJECTS.items()}


def destructive_word(text: str) -> str | None:
    """Return the destructive word of a name or a text, or None.

    A text may begin with a name: "gym.clients.bulk_delete Deletes up to 200 clients".
    """
    first, _, rest = text.strip().partition(" ")
    if not rest:
        return _word_of_name(first)
    if _NAME.fullmatch(first):
        return _word_of_name(first) or word_of_text(rest)
    return word_of_text(text)


def word_of_names(names: tuple[str, ...], texts: tuple[str, ...]) -> str | None:
    """Return the destructive word of an operation's names. Later names count only if the first has no other verb."""
    first = next(iter(_words(names[0])), "") if names else ""
    for name in names[:1] if first in OTHER_VERBS else names:
        word = _word_of_name(name)
        if word is not None and not (
            word in _SOME and any(_means_less(word, text) for text in (*names, *texts) if text)
        ):
            return word
    return None


# --- names ---------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=65_536)
def _word_of_name(name: str) -> str | None:
    """Return the destructive word of a name, or None. Only the part after the last dot, slash or colon counts."""
    part = _last_part(name)
    words = _words(name)
    verb = _verb_of(words)
    if verb is not None or not words:
        return verb
    foreign = next((word for word in words if word in _FOREIGN), None)
    if foreign is not None and OTHER_VERBS.isdisjoint(words[: words.index(foreign)]):
        return foreign
    return None if part.isascii() else _unspaced_word(part)


def _last_part(name: str) -> str:
    return re.split(r"[./:]", name.strip("./: "))[-1][:_LONGEST_NAME]


def _words(name: str) -> list[str]:
    part = _last_part(name)
    joined = snake(part) if part.isascii() else _folded(_CAMEL.sub("_", part)).replace("-", "_")
    return [word for word in joined.split("_") if word]


def _verb_of(words: list[str]) -> str | None:
    """Return the destructive verb of a name: its first word, one after "and", or the last without an earlier verb."""
    start = next((index for index, word in enumerate(words) if word not in BEFORE), len(words))
    for index, word in enumerate(words):
        is_last = index == len(words) - 1 and OTHER_VERBS.isdisjoint(words[:index]) and word not in MILD_ALONE
        is_verb = index <= start or words[index - 1] in ("and", "or", "then") or is_last
        if is_verb and (_destroys(word, words[index + 1 :], words[:index]) or (word in NOUNS and index > 0)):
            follows = words[index + 1] if index + 1 < len(words) else ""
            if word in ALWAYS and index == start and follows in THINGS and len(words) > index + 2:
                continue
            return word
    return None


def _destroys(word: str, after: list[str], before: list[str]) -> bool:
    """Whether a verb is destructive between these words, by itself or by its object."""
    if word not in ALWAYS and word not in _SOME:
        return False
    objects = _objects(after)
    if word in ALWAYS:
        if objects and objects[0] in ("no", "none", "nothing"):
            return False
        return not (objects and word in ("remove", "prune") and objects[0] in OF_A_VALUE)
    if objects:
        return objects[-1] not in SPECIFIC and not _SOME[word].isdisjoint(objects[:2])
    object_before = before[-1] if before else ""
    return object_before in _SOME[word] or (not object_before and word not in MILD_ALONE)


def _objects(after: list[str]) -> list[str]:
    """Return the object of a verb: the words after it up to a preposition, without articles and "all"."""
    end = next((index for index, word in enumerate(after) if word in PREPOSITIONS), len(after))
    return [word for word in after[:end] if word not in DETERMINERS][:_OBJECT_WORDS]


def _means_less(verb: str, text: str) -> bool:
    """Whether a name or a text begins with the verb and an object for which it is harmless."""
    words = _words(text) if " " not in text else _WORD.findall(next(iter(sentences(text)), ""))
    words = [word for word in words if word not in BEFORE]
    return (
        bool(words)
        and _plain_verb(words[0]) == verb
        and bool(_objects(words[1:]))
        and not _destroys(verb, words[1:], [])
    )


# --- texts ---------------------------------------------------------------------------------------------------------


def word_of_text(text: str) -> str | None:
    """Return the destructive word of a summary or a description, or None."""
    return leading_word(text) or _irreversible_phrase(text) or _statement(text)


def leading_word(text: str) -> str | None:
    """Return the destructive verb at the start of a text's first sentence, or joined to the verb there."""
    sentence = next(iter(sentences(text)), "")
    if not sentence:
        return None
    words = _WORD.findall(sentence)
    verb = _leading_verb(words, sentence)
    return verb or _further_verb(sentence) or _foreign_word(words, sentence) or _unspaced_word(sentence)


def _leading_verb(words: list[str], sentence: str) -> str | None:
    rest = _LEAD.sub("", sentence, count=1)
    candidates = _WORD.findall(rest) if rest != sentence else words
    index = next((index for index, word in enumerate(candidates) if word not in BEFORE), len(candidates))
    if index == len(candidates):
        return None
    verb = _stem(candidates[index])
    if verb is not None and _destroys(verb, candidates[index + 1 :], []):
        return candidates[index]
    nouns = candidates[index : index + 3]
    return next(
        (word for offset, word in enumerate(nouns) if word in NOUNS and _is_head(candidates, index + offset)), None
    )


def _is_head(words: list[str], index: int) -> bool:
    """Whether a noun is the head of a sentence: "Account deletion", "Removal of a user"."""
    after = words[index + 1] if index + 1 < len(words) else ""
    return after in ("", "of", "for", "from", "by") and OTHER_VERBS.isdisjoint(map(_plain_verb, words[:index]))


def _further_verb(sentence: str) -> str | None:
    for match in _FURTHER.finditer(sentence):
        word = match[1].rpartition(" ")[2]
        verb = _stem(word)
        if verb is None or verb in MILD_ALONE or word.endswith("ing"):
            continue
        if _SUBORDINATE.search(_LEAD.sub("", sentence[: match.start()], count=1)) or _NEGATED.search(
            sentence[: match.end()]
        ):
            return None
        if verb == "remove" and _ADDING.search(sentence[: match.start()]):
            continue
        after = _WORD.findall(sentence[match.end() :])
        if _destroys(verb, after, []):
            return word
    return None


def _foreign_word(words: list[str], sentence: str) -> str | None:
    foreign = next((word for word in words if word in _FOREIGN), None)
    if foreign is None and _SUPPRESSION.match(sentence):
        foreign = "suppression"
    return None if foreign is None or _NEGATED.search(sentence) else foreign


def _unspaced_word(sentence: str) -> str | None:
    if sentence.isascii():
        return None
    unmentioned = _UNSPACED_MENTION.sub(" ", sentence)
    return next((word for word in UNSPACED if word in unmentioned), None)


def _irreversible_phrase(text: str) -> str | None:
    """Return the phrase that says that the effect is permanent, or None."""
    for sentence in sentences(text):
        match = _IRREVERSIBLE.search(sentence)
        if match and not _CONDITION.search(sentence):
            return match[0]
    return None


def _statement(text: str) -> str | None:
    """Return the destructive verb of a clause after the first, or None: "Merges two clients; deletes the duplicate"."""
    for sentence in sentences(text):
        match = _STATEMENT.search(sentence)
        if match and not any(guard.search(sentence) for guard in (_CONDITION, _NEGATED, _ELSEWHERE)):
            return match[1] or match[2]
    return None


@lru_cache(maxsize=64)
def sentences(text: str) -> tuple[str, ...]:
    """Return the sentences of a text in lower case without diacritics."""
    prose = plain(text[:_LONGEST_TEXT]).replace("cannot", "can not")
    return tuple(sentence.strip() for sentence in _SENTENCE.split(_folded(prose)) if sentence.strip())


def _stem(word: str) -> str | None:
    """Return the destructive verb of a form such as `deletes` or `deleting`. None for participles and other words."""
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
