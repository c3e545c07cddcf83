"""What one execution has read, by who wrote it: the user, services, outsiders."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from codemode.features.flow.folding import forms
from codemode.features.flow.marks import fields
from codemode.features.flow.texts import Texts, common, covers, others

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from codemode.catalog.tool import Tool
    from codemode.features.flow.marks import Marks

T = TypeVar("T")

#: Characters of answers that are read between two turns of the event loop, rather than in a thread.
_FEW = 16_000


#: Letters and digits of other answers in a link of an outsider, from which on it may carry them away.
_LEAST_OTHERS = 4


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer. `call` is the path of its call, `tool` its tool; None for a value that the program has loaded.

    `arguments`: those of the call. A service that repeats them says nothing new.
    `is_left`: an earlier program left it, and this one had read nothing of outsiders before it loaded the value.
    `of`: the text from which a model made the answer, whose marks the answer then has.
    """

    call: str
    tool: Tool | None
    value: Any
    is_left: bool = False
    of: str | None = None
    arguments: Any = None


@dataclass(frozen=True, slots=True)
class Sent:
    """The arguments of a call. What a service was told is no evidence when it says it again."""

    arguments: Any


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a text comes from: `mail.get (call 3), field body`."""

    what: str
    field: str = ""

    def __str__(self) -> str:
        return f"{self.what}, field {self.field}" if self.field else self.what


class Reading:
    """The texts that one execution has read. They are indexed when they are first asked about."""

    def __init__(self, marks: Marks) -> None:
        self._marks = marks
        self._own: tuple[str, ...] = ()
        self._new: list[Answer | Sent] = []
        self._marked: list[Answer] = []
        self._first: Answer | None = None
        self._sought = 0  # how many of the marked answers are looked through for the first
        self._user = Texts(keeps=True)
        self._services, self._untrusted, self._told = Texts(), Texts(), Texts()
        self._sent: list[str] = []  # not yet in `_told`: most programs never need it
        self._private: defaultdict[str, Texts] = defaultdict(Texts)
        self._lock = asyncio.Lock()
        self._under_way: asyncio.Future[None] | None = None

    @property
    def has_marked(self) -> bool:
        """Return whether the execution may have read text of outsiders, or private text."""
        return bool(self._marked)

    def trust(self, own: Iterable[str]) -> None:
        """Trust these texts: the user's, and a program whose author had read nothing of outsiders."""
        self._own = tuple(own)

    def trust_what_was_left(self) -> None:
        """Trust what earlier programs have left, because none of them has read anything of outsiders."""
        self._marked = [answer for answer in self._marked if not answer.is_left]
        self._new = [event for event in self._new if isinstance(event, Sent) or not event.is_left]

    def add(self, answer: Answer) -> None:
        """Add an answer. Nothing is read yet."""
        self._new.append(answer)
        if answer.tool is None or answer.of is not None or self._marks.may_mark(answer.tool):
            self._marked.append(answer)

    def sent(self, arguments: Any) -> None:
        """Add the arguments of a call that is sent."""
        if self._marked:
            self._new.append(Sent(arguments))

    async def untrusted(self, text: str) -> Origin | None:
        """Return where an outsider wrote a part of a text that neither the user nor a trusted answer has, or None."""
        async with self._lock:
            if await self._is_own(text):
                return None
            await self._index()
            part = await _common(text, self._untrusted, (self._user, self._services))
        return None if part is None else await self._origin(part)

    async def carried(self, text: str) -> Origin | None:
        """Return where an outsider wrote a part of a text that has parts of other answers too, or None."""
        origin = await self.untrusted(text)
        if origin is None:
            return None
        is_joined = others(text[:_FEW], (self._untrusted, self._user)) >= _LEAST_OTHERS
        return origin if is_joined else None

    async def private(self, text: str, source: str) -> Origin | None:
        """Return where a part of a text is private to another source than this one, or None."""
        part = None
        if not self._marks.has_private:
            return None
        async with self._lock:
            if await self._is_own(text):
                return None
            await self._index()
            for owner, texts in self._private.items():
                part = part or (await _common(text, texts, (self._user,)) if owner != source else None)
        return None if part is None else await self._origin(part)

    async def has_untrusted(self) -> Origin | None:
        """Return what of the execution's reading outsiders wrote, or None."""
        async with self._lock:
            unseen, count = self._marked[self._sought :], len(self._marked)
            if self._first is None and unseen:
                self._first = await _in_thread_if(sum(map(_characters, unseen)) >= _FEW, self._untrusted_of, unseen)
            self._sought = count
        return _origin(self._first) if self._first is not None else None

    def _untrusted_of(self, answers: Iterable[Answer]) -> Answer | None:
        """Return the first answer that holds text of outsiders. What is made of such text comes after it."""
        plain = (answer for answer in answers if answer.of is None)
        return next((one for one in plain if one.tool is None or self._marks.is_untrusted(one.tool, one.value)), None)

    async def _is_own(self, text: str) -> bool:
        """Return whether all of a text is the user's. Nothing that was read needs to be indexed for that."""
        own, self._own = self._own, ()
        await self._add(sum(map(len, own)) >= _FEW, self._user.add, own)
        return await _in_thread_if(len(text) >= _FEW, covers, self._user, text)

    async def _index(self) -> None:
        """Index what is new."""
        new, self._new = self._new, []
        await self._add(sum(map(_characters, new)) >= _FEW, self._read, new)

    async def _add(self, is_much: bool, function: Callable[[Sequence[T]], None], new: Sequence[T]) -> None:  # noqa: FBT001
        """Index a little here, much in a thread. Who holds the lock calls it; others wait for its end."""
        if self._under_way is not None:  # whoever began it was cancelled
            await asyncio.shield(self._under_way)
            self._under_way = None
        if not is_much:
            function(new)
            return
        self._under_way = asyncio.ensure_future(asyncio.to_thread(function, new))
        await asyncio.shield(self._under_way)
        self._under_way = None

    def _read(self, events: Iterable[Answer | Sent]) -> None:
        for answer in events:
            if isinstance(answer, Sent):
                self._sent += [text for _, text in fields(answer.arguments)]
                continue
            if answer.of is not None:
                self._derive(answer, answer.of)
                continue
            untrusted: list[str] = []
            services: list[str] = []
            private: list[str] = []
            for text, is_untrusted, is_private in self._texts(answer):
                (untrusted if is_untrusted else private if is_private else services).append(text)
                if is_untrusted and is_private:
                    private.append(text)
            self._untrusted.add(untrusted, without=_texts_of(answer.arguments) if untrusted else None)
            self._trust(services)
            if private and answer.tool is not None:
                self._private[answer.tool.source].add(private)

    def _derive(self, answer: Answer, of: str) -> None:
        """Mark what a model wrote about a text like this text: it may say the same in other words."""
        texts = [text for _, text in fields(answer.value)]
        for owner, private in self._private.items():
            if common(of, private, (self._user,)):
                self._private[owner].add(texts)
        if common(of, self._untrusted, (self._user, self._services)):
            self._untrusted.add(texts)
        else:
            self._trust(texts)

    def _trust(self, texts: Sequence[str]) -> None:
        """Trust what a service answered, but for what it was told of untrusted texts."""
        if texts:
            sent, self._sent = self._sent, []
            self._told.add(text for text in sent if common(text, self._untrusted, (self._user, self._services)))
            self._services.add(texts, without=self._told)

    def _texts(self, answer: Answer) -> Iterator[tuple[str, bool, bool]]:
        if answer.tool is None:
            yield from ((text, True, False) for _, text in fields(answer.value))
            return
        for text in self._marks.texts(answer.tool, answer.value):
            if text.is_untrusted or not text.is_filled_in:
                yield text.text, text.is_untrusted, text.is_private

    async def _origin(self, part: bytes) -> Origin:
        return await asyncio.to_thread(self._searched, part)

    def _searched(self, part: bytes) -> Origin:
        for answer in self._marked:
            for path, text in fields(answer.value):
                if any(part in form for form in forms(text)):
                    return replace(_origin(answer), field=".".join(path))
        return Origin("more text than can be traced")


def _texts_of(arguments: Any) -> Texts:
    texts = Texts()
    texts.add_as_written(text for _, text in fields(arguments))
    return texts


async def _common(text: str, untrusted: Texts, trusted: tuple[Texts, ...]) -> bytes | None:
    return await _in_thread_if(len(text) >= _FEW, common, text, untrusted, trusted)


async def _in_thread_if(is_much: bool, function: Callable[..., T], *arguments: Any) -> T:  # noqa: FBT001
    return await asyncio.to_thread(function, *arguments) if is_much else function(*arguments)


def _origin(answer: Answer) -> Origin:
    return Origin(f"{answer.tool.id} (call {answer.call})" if answer.tool else "a value that the program loaded")


def _characters(event: Answer | Sent) -> int:
    """Return about how many characters an answer has, at most so many as are few."""
    count = 0
    for _, text in fields(event.value if isinstance(event, Answer) else event.arguments):
        count += len(text) + 1
        if count >= _FEW:
            break
    return count
