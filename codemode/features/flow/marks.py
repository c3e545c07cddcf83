"""Which texts of an answer outsiders wrote, and which are private: by setting, by the tool's hints, by words."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from codemode.catalog.identifiers import snake
from codemode.gateway.policy import Globs
from codemode.transports.base import Page

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from codemode.catalog.tool import Tool
    from codemode.settings.flow import FlowSettings

#: For each tool by id: whether outsiders write its answers, and whether they are private.
Labels = dict[str, tuple[bool, bool]]

#: Words of tools whose answers hold text that outsiders write.
_OUTSIDE_WORDS = (
    "mail mails email emails inbox inboxes message messages msg msgs sms chat chats thread threads channel "
    "channels room rooms conversation conversations issue issues ticket tickets comment comments review reviews "
    "feedback survey surveys submission submissions post posts tweet tweets toot toots statuses discussion "
    "discussions web webpage webpages website websites browse crawl scrape fetch rss feed feeds news article "
    "articles upload uploads uploaded attachment attachments file files document documents doc docs transcript "
    "transcripts event events invitation invitations transaction transactions pull pulls voicemail notification "
    "notifications profile profiles memo memos"
)
_OUTSIDE = frozenset(_OUTSIDE_WORDS.split())

#: Words of fields that a service fills in, not the author of a text.
_ENVELOPE_WORDS = (
    "id ids uuid guid key sha etag date time timestamp at on created updated modified sent received due start end "
    "deadline status state type kind category size bytes count total amount price currency number index page cursor "
    "next version sender from author user username owner assignee creator to cc bcc recipient recipients participants "
    "attendees members mail email emails address phone priority is has read language zone timezone mime"
)
_ENVELOPE = frozenset(_ENVELOPE_WORDS.split())

#: Characters and spaces of a text that has several sentences.
_PROSE, _WORDS = 120, 15

#: Characters of a value that a service fills in at most. It has no space.
_LONGEST_VALUE = 100

#: A date, or a date and time (RFC 3339).
_TIME = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?(?:Z|[+-]\d\d:\d\d)?)?", re.ASCII)

#: Character codes that are read as a text.
_LEAST_CODES = 6

#: Numbers from here on may be accounts or ids.
_LEAST_NUMBER = 100_000

_SPACE = re.compile(r"\s")


@dataclass(frozen=True, slots=True)
class Text:
    """A text of an answer, and the path of its field. `is_filled_in`: the service wrote it, beside an outsider's."""

    text: str
    field: str
    is_untrusted: bool
    is_private: bool
    is_filled_in: bool


class Marks:
    """Marks the texts of answers. A text of several sentences counts as an outsider's in any answer."""

    def __init__(self, settings: FlowSettings, labels: Labels | None = None) -> None:
        self._untrusted, self._trusted, self._private = (
            tuple(map(_Pattern, patterns)) for patterns in (settings.untrusted, settings.trusted, settings.private)
        )
        #: What servers said of the answers of tools by id: whether outsiders wrote them, whether they are private.
        self.labels: Labels = dict(labels or {})
        self._of_tools: WeakKeyDictionary[Tool, _ToolMarks] = WeakKeyDictionary()

    def texts(self, tool: Tool, answer: Any) -> Iterator[Text]:
        """Yield the texts of an answer of a tool."""
        marks = self._marks(tool)
        for path, text in fields(answer):
            is_trusted, is_filled_in = _fits(marks.trusted, path), marks.is_from_outside and _is_filled_in(path, text)
            is_from_outside = (marks.is_from_outside and not is_filled_in) or _is_prose(text)
            is_untrusted = _fits(marks.untrusted, path) or is_from_outside
            is_private = _fits(marks.private, path)
            yield Text(text, ".".join(path), is_untrusted and not is_trusted, is_private, is_filled_in)

    def restrict(self, tool: Tool, label: Mapping[str, Any]) -> None:
        """Mark a tool as its server labels an answer, from then on. A label never makes an answer more trusted.

        `label` is `_meta.ifc` of a result: `{"integrity": "untrusted", "confidentiality": "private"}`, as GitHub's MCP
        server writes it.
        """
        is_untrusted = label.get("integrity") in ("untrusted", "low")
        is_private = label.get("confidentiality", "public") not in ("public", ["public"])
        self.take({tool.id: (is_untrusted, is_private)})

    def take(self, labels: Labels) -> None:
        """Add labels to those that are known."""
        for tool, (is_untrusted, is_private) in labels.items():
            before = self.labels.get(tool, (False, False))
            after = (before[0] or is_untrusted, before[1] or is_private)
            if after != before:
                self.labels = {**self.labels, tool: after}
                self._of_tools.clear()

    @property
    def has_private(self) -> bool:
        """Whether an answer of any tool may be private."""
        return bool(self._private) or any(is_private for _, is_private in self.labels.values())

    def is_untrusted(self, tool: Tool, answer: Any) -> bool:
        """Return whether an answer holds a text that outsiders wrote."""
        return any(text.is_untrusted for text in self.texts(tool, answer))

    def may_mark(self, tool: Tool) -> bool:
        """Return whether an answer of the tool may hold text that is not trusted, or private."""
        marks = self._marks(tool)
        return () not in marks.trusted or bool(marks.private)

    def _marks(self, tool: Tool) -> _ToolMarks:
        marks = self._of_tools.get(tool)
        if marks is None:
            untrusted, trusted, private = (
                tuple(pattern.field for pattern in patterns if pattern.fits(tool.id))
                for patterns in (self._untrusted, self._trusted, self._private)
            )
            is_untrusted, is_private = self.labels.get(tool.id, (False, False))
            untrusted, private = (*untrusted, *[()] * is_untrusted), (*private, *[()] * is_private)
            words = {*snake(tool.id.replace(".", "_")).split("_")}
            marks = self._of_tools[tool] = _ToolMarks(
                untrusted, trusted, private, tool.open_world or bool(words & _OUTSIDE)
            )
        return marks


def fields(value: Any) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the texts of JSON data with the names that lead to them: also long numbers, and names like sentences."""
    unvisited: list[tuple[tuple[str, ...], Any]] = [((), value)]
    while unvisited:
        path, part = unvisited.pop()
        if isinstance(part, str):
            yield path, part
        elif isinstance(part, int) and abs(part) >= _LEAST_NUMBER:
            yield path, str(part)
        elif isinstance(part, Page):
            unvisited += [(path, part.headers), (path, part.value)]
        elif isinstance(part, dict):
            inner = [((*path, str(name)), each) for name, each in part.items()]
            yield from (
                (path, str(name)) for name in part if _SPACE.search(str(name)) or len(str(name)) > _LONGEST_VALUE
            )
            unvisited.extend(reversed(inner))
        elif isinstance(part, (list, tuple)):
            unvisited.extend((path, each) for each in reversed(part))


def words(value: Any) -> Iterator[str]:
    """Yield all texts and names of JSON data in order. Numbers are none, and neither are dates."""
    unvisited = [value]
    while unvisited:
        part = unvisited.pop()
        if isinstance(part, str):
            if not _TIME.fullmatch(part):
                yield part
        elif isinstance(part, dict):
            unvisited.extend(one for name, each in reversed(part.items()) for one in (each, str(name)))
        elif isinstance(part, (list, tuple)):
            yield from letters(part)
            unvisited.extend(reversed(part))


def letters(values: list[Any] | tuple[Any, ...]) -> Iterator[str]:
    """Yield the text of which a list may have the character codes."""
    if len(values) >= _LEAST_CODES and all(type(one) is int and 0 < one < 0x110000 for one in values):
        yield "".join(map(chr, values))


@dataclass(frozen=True, slots=True)
class _ToolMarks:
    """The fields that settings mark, and whether the tool's own words do."""

    untrusted: tuple[tuple[str, ...], ...]
    trusted: tuple[tuple[str, ...], ...]
    private: tuple[tuple[str, ...], ...]
    is_from_outside: bool


class _Pattern:
    """`PATTERN` or `PATTERN: FIELD`. A source's name means all of its tools."""

    def __init__(self, text: str) -> None:
        tools, _, field = (part.strip() for part in text.partition(":"))
        self._tools = Globs((tools, f"{tools}.*"))
        self.field = tuple(name for name in re.split(r"[.\[\]]+", field) if name)

    def fits(self, tool: str) -> bool:
        return self._tools.fit(tool)


def _fits(marked: Iterable[tuple[str, ...]], path: tuple[str, ...]) -> bool:
    """Return whether a path is a marked one or within it. Leading names may be left out."""
    return any(any(path[at : at + len(names)] == names for at in range(len(path) - len(names) + 1)) for names in marked)


def _is_prose(text: str) -> bool:
    """Return whether a text has several sentences, whatever tool answers it: somebody wrote it for somebody to read."""
    return len(text) >= _PROSE and text.count(" ") >= _WORDS


def _is_filled_in(path: tuple[str, ...], text: str) -> bool:
    if not path or len(text) > _LONGEST_VALUE or _SPACE.search(text):
        return False
    words = snake(path[-1]).split("_")
    return words[-1] in _ENVELOPE or words[0] in ("is", "has")
