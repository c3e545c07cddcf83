"""What a program has told a service. An answer that repeats it says nothing about a record.

A program can make a service answer with what it likes: a tool that echoes, that formats, or that stores a name which a
later read returns. A text is the program's own if the call that read it, or an earlier write, had it in its arguments.
An id is, too, if the call had so much free text that it may hold a record in some encoding.
"""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING, Any
from unicodedata import normalize

from codemode.catalog.tool import Effect

if TYPE_CHECKING:
    from collections.abc import Iterator

    from codemode.executions.types.record import Record, RecordedCall

#: Characters of arguments that are searched. Of a call with more, nothing is believed.
_MOST_CHARACTERS = 100_000

#: Letters and digits of a word that does not occur in arguments by accident.
_TELLING = 4

#: Characters that a record takes in an argument beside its id: signs, names of fields, a name.
_ENCODED = 12

#: Texts that hold no other text: numbers, dates and times, UUIDs.
_PLAIN = re.compile(
    r"[+-]?[0-9][0-9.,]*|[0-9]{4}-[0-9]{2}(-[0-9]{2}([T ][0-9:.]+(Z|[+-][0-9:]+)?)?)?"
    r"|[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"
)

#: Longest of these.
_LONGEST_PLAIN = 40

_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})|\\x([0-9a-fA-F]{2})|%([0-9a-fA-F]{2})")
_WORD = re.compile(r"[^\W_]+")


class Provenance:
    """The arguments of an execution's calls, in the order in which they were made."""

    def __init__(self, record: Record) -> None:
        calls = sorted(record.calls.values(), key=lambda call: call.sequence)
        self._own = {call.path: _Told(call) for call in calls}
        self._writes = [(call.sequence, self._own[call.path]) for call in calls if call.effect not in ("", Effect.READ)]

    def has_id(self, call: RecordedCall, value: Any) -> bool:
        """Return whether the arguments of a call hold an id that its answer has, or may hold it."""
        told = self._own[call.path]
        return told.holds(str(value)) or told.free_characters >= len(str(value)) + _ENCODED

    def has_text(self, call: RecordedCall, value: Any) -> bool:
        """Return whether the program has told the service a value before it was read: with this call, or a write."""
        told = (each for sequence, each in self._writes if sequence < call.sequence)
        return any(each.holds_part(str(value)) for each in (self._own[call.path], *told))


class _Told:
    """The texts in the arguments of one call, as one text without spaces, signs, case and escapes."""

    def __init__(self, call: RecordedCall) -> None:
        self._texts: frozenset[str] = frozenset()
        self._joined = ""
        self._is_too_long = False
        self._call = call
        self._is_read = False
        texts = _texts([*call.arguments.values()])
        self.free_characters = sum(1 if _is_plain(text) else len(text) for text in texts)

    def holds(self, text: str) -> bool:
        self._read()
        plain = "".join(_plain_words(text))
        is_telling = len(plain) >= _TELLING and plain in self._joined
        return self._is_too_long or text in self._texts or plain in self._texts or is_telling

    def holds_part(self, text: str) -> bool:
        words = [word for word in _plain_words(text) if len(word) >= _TELLING]
        return self.holds(text) or any(word in self._joined for word in words)

    def _read(self) -> None:
        if self._is_read:
            return
        self._is_read = True
        texts, size = [], 0
        for text in _texts(self._call.arguments):
            texts.append(text)
            size += len(text)
            if size > _MOST_CHARACTERS:
                self._is_too_long = True
                return
        words = [word for text in texts for word in _plain_words(text)]
        self._texts, self._joined = frozenset((*texts, *words)), "".join(words)


def _is_plain(text: str) -> bool:
    return len(text) <= _LONGEST_PLAIN and _PLAIN.fullmatch(text) is not None


def _plain_words(text: str) -> list[str]:
    text = html.unescape(_ESCAPE.sub(lambda one: chr(int(one[1] or one[2] or one[3], 16)), text))
    return _WORD.findall(normalize("NFKC", text).casefold())


def _texts(value: Any) -> Iterator[str]:
    unvisited = [value]
    while unvisited:
        part = unvisited.pop()
        if isinstance(part, dict):
            yield from map(str, part)
            unvisited.extend(reversed([*part.values()]))
        elif isinstance(part, (list, tuple)):
            unvisited.extend(reversed(part))
        elif part is not None and not isinstance(part, bool):
            yield str(part)
