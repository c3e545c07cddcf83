"""Recognize verbs of reading and of change in names and texts: `count_flows` reads, "and marks it as seen" changes.

They never make an effect milder by themselves: `codemode.sources.proposals` proposes, and a person accepts.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from codemode.catalog.effect_table import ALWAYS, CHANGING, COMPUTING, HOMOGRAPHS, READING, SOME_OBJECTS
from codemode.catalog.effect_words import sentences
from codemode.catalog.identifiers import snake

if TYPE_CHECKING:
    from collections.abc import Iterator

_DESTROYING = ALWAYS | SOME_OBJECTS.keys()
_CHANGING = CHANGING | _DESTROYING
#: Verbs that are often nouns in names: `email_settings`, `artifact_and_log`.
_NOUNS = HOMOGRAPHS - frozenset(
    (
        "charge",
        "claim",
        "edit",
        "increment",
        "insert",
        "lock",
        "mark",
        "merge",
        "move",
        "register",
        "rename",
        "reset",
        "refund",
        "set",
        "swap",
        "transfer",
        "update",
        "write",
    )
)

#: Words that may precede the verb of a name: `bulk_read_logs`.
_PREFIXES = frozenset(("admin", "async", "batch", "bulk", "multi", "v1", "v2", "v3"))
#: Words after a verb of reading that make it another verb: `check_in_guest`, `get_rid_of`.
_PARTICLES = frozenset(("in", "off", "out", "rid"))
_JOINING = frozenset(("and", "or", "then"))

#: A word at the start of a sentence or a clause, without "also", "it" and the like before it.
_CLAUSE = re.compile(
    r"(?:^|[:;,(/\u2013\u2014] ?|\band |\bor |\bthen |\bbut |\bby |\balso )"
    r"(?:and |or |then |also |will |it |this |(?:tool|call|operation|endpoint|function|method) |to "
    r"|automatically |immediately |atomically )*([a-z]+)\b"
)
#: "The message will be marked as read", "is then locked".
_PASSIVE = re.compile(
    r"\b(?:will be|gets|(?:is|are) (?:then|also|automatically|immediately)|(?:it|they) (?:is|are)) "
    r"(?:then |also )?([a-z]+)ed\b"
)
#: "The mails are marked as read", and not "mails that are marked".
_DONE = re.compile(
    r"(?<!that )(?<!which )(?<!who )\b(?:is|are) "
    r"(acknowledged|acquired|archived|charged|claimed|consumed|deleted|incremented|locked|marked|removed|reset)\b"
)
_CONDITION = re.compile(r"\b(?:if|unless|when|whether|until|while)\b")
#: The words that an object begins with: "marks it", "charges the card", and not "orders and charges of".
_OBJECT = re.compile(r" (?:an?|all|any|each|every|it|its|one|some|that|the|their|them|these|this|those|your)\b")
_THIRD_PERSON = re.compile(r"\b([a-z]+s)\b")


def reads_by_name(name: str) -> bool:
    """Whether the verb of a name is one of reading, and no verb joined to it changes: `find_or_create` does."""
    verb, *rest = _words(name) or ("",)
    if verb == "look" and rest[:1] == ["up"]:
        return not _joined(rest)
    return verb in READING and _PARTICLES.isdisjoint(rest[:1]) and not _joined(rest)


def change_of_name(name: str) -> str:
    """Return the verb of change that a name begins with, or that is joined to its verb. Empty if there is none.

    Verbs that often compute only (`create_summary`) or that may be nouns (`email_settings`) do not count.
    """
    words = _words(name)
    verbs = (*words[:1], *_joined(words))
    return next((word for word in verbs if word in _CHANGING - COMPUTING - _NOUNS), "")


def verb_of_change(name: str) -> str:
    """Return the verb of change that a name begins or ends with, or "": `create`, `pageUpdate`."""
    words = _words(name)
    if not words or reads_by_name(name):
        return next(iter(_joined(words)), "")
    return next((word for word in (words[0], words[-1]) if word in _CHANGING), "")


def change_of_text(text: str) -> str:
    """Return the verb of change in a text, or "": "Sends a mail", "Lists the jobs and locks them".

    Verbs that often compute only do not count.
    """
    return next((word for word in _changes(text) if _verb(word) not in COMPUTING), "")


def mentions_change(text: str) -> bool:
    """Whether a text has any verb of change. In doubt it has."""
    return next(_changes(text), None) is not None


def _changes(text: str) -> Iterator[str]:
    for sentence in sentences(text):
        for match in _CLAUSE.finditer(sentence):
            verb = _verb(match[1])
            is_command = not match.start() and verb == match[1]
            if verb and (verb not in HOMOGRAPHS or is_command or _OBJECT.match(sentence, match.end())):
                yield match[1]
        for match in _PASSIVE.finditer(sentence):
            if _verb(match[1]) or _verb(f"{match[1]}e"):
                yield match[1]
        if not _CONDITION.search(sentence):
            yield from _DONE.findall(sentence)
        for match in _THIRD_PERSON.finditer(sentence):
            if _verb(match[1]) not in ("", *HOMOGRAPHS):
                yield match[1]


def _words(name: str) -> list[str]:
    """Return the words of the last part of a name, from its verb on."""
    words = [word for word in snake(re.split(r"[./:]", name.strip("./: "))[-1]).split("_") if word]
    start = next((index for index, word in enumerate(words) if word not in _PREFIXES), 0)
    return words[start:]


def _joined(words: list[str]) -> list[str]:
    """Return the verbs of change after "and", "or" and "then"."""
    return [word for before, word in pairwise(words) if before in _JOINING and word in _CHANGING - _NOUNS]


def _verb(word: str) -> str:
    """Return the verb of change of a form such as `creates`. Empty for other words."""
    for ending, put in (("", ""), ("s", ""), ("es", ""), ("ies", "y")):
        verb = word.removesuffix(ending) + put
        if word.endswith(ending) and verb in _CHANGING:
            return verb
    return ""
