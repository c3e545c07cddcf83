"""What conversations remember between calls, for objects that are made anew with each request."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, TypeVar

from codemode.model.deferred import DeferredTools
from codemode.model.fitting_tools import FittingTools, has_answers

if TYPE_CHECKING:
    import weakref
    from collections.abc import Sequence
    from typing import Any

    from codemode.catalog.catalog import Catalog
    from codemode.catalog.inline import Inline
    from codemode.gateway.caller import Caller
    from codemode.menus.session import MenuSession
    from codemode.settings import ModeName

#: The most conversations that are remembered: those with a name, and the beginnings of the others.
_MOST_NAMED, _MOST_BEGINNINGS = 10_000, 1_000


@dataclass(slots=True)
class Beginning:
    """The texts with which each request of a conversation begins, so that prompts are cached.

    They change with the catalog only, and not with what its calls teach: the signatures of the definition, and those of
    the tools that a search for the first message found.
    """

    inline: tuple[weakref.ref[Catalog], Inline] | None = None
    fitting: FittingTools = field(default_factory=FittingTools)


@dataclass(slots=True)
class Memory:
    """What a conversation remembers: the introduced namespaces, its menu, and how its requests begin.

    `first` is its first message. `loads` is whether a result was cut, of which `load_result` shows more.
    """

    told: set[str] = field(default_factory=set)
    menu: MenuSession | None = None
    first: str = ""
    beginning: Beginning = field(default_factory=Beginning)
    deferred: DeferredTools = field(default_factory=DeferredTools)
    loads: bool = False

    def forget(self) -> None:
        """Begin another conversation."""
        self.told.clear()
        self.first, self.beginning, self.deferred = "", Beginning(), DeferredTools()


_Value = TypeVar("_Value")


class _Newest(Generic[_Value]):
    """A mapping of the entries that were used last."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._entries: OrderedDict[tuple[str, ...], _Value] = OrderedDict()

    def get(self, key: tuple[str, ...]) -> _Value | None:
        """Return an entry, or None."""
        if key in self._entries:
            self._entries.move_to_end(key)
        return self._entries.get(key)

    def keep(self, key: tuple[str, ...], value: _Value) -> _Value:
        """Set an entry, and return it."""
        self._entries[key] = value
        self._entries.move_to_end(key)
        if len(self._entries) > self._most:
            self._entries.popitem(last=False)
        return value


class Memories:
    """What named conversations remember, and how the others began, by caller and first message."""

    def __init__(self) -> None:
        self._named: _Newest[Memory] = _Newest(_MOST_NAMED)
        self._beginnings: _Newest[Beginning] = _Newest(_MOST_BEGINNINGS)

    def of(self, caller: Caller, conversation: str, mode: ModeName) -> Memory:
        """Return what a conversation of a caller remembers. It is new without a name, and in other modes than code."""
        if not conversation or mode != "code":
            return Memory()
        key = (caller.id, caller.role, conversation)
        return self._named.get(key) or self._named.keep(key, Memory())

    def begin(self, memory: Memory, caller: Caller, first: str, history: Sequence[Any]) -> Beginning:
        """Return how the requests of a conversation begin, and remember it. `first` is its first message, if any.

        A history with answers continues a conversation that another object may have begun.
        """
        if first and first != memory.first:
            key = (caller.id, caller.role, first)
            known = self._beginnings.get(key) if has_answers(history) else None
            begun = Beginning() if memory.first else memory.beginning
            memory.first, memory.beginning = first, self._beginnings.keep(key, known or begun)
        return memory.beginning
