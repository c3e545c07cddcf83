"""`warnings`: every warning is told on standard error, unless a filter says `ignore` or `error`, or it is recorded."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from sandbox.guest.names.scene import Scene


class WarningMessage(NamedTuple):
    """A warning that was recorded."""

    message: Warning
    category: type[Warning]
    filename: str = "<program>"
    lineno: int = 0


class _Filters:
    """The filters of one program, and the lists that record what they let through."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self.rules: list[tuple[str, str, Any]] = []
        self.records: list[list[WarningMessage]] = []

    def tell(self, warning: Warning) -> None:
        if not issubclass(type(warning), Warning):  # a category makes anything, and its class is shown
            raise TypeError("category must be a Warning subclass")
        action = self._action(warning)
        if action == "error":
            raise warning
        if action == "ignore":
            return
        if self.records:
            self.records[-1].append(WarningMessage(warning, type(warning)))
        else:
            self._scene.errors.write(f"{type(warning).__name__}: {warning}\n")

    def _action(self, warning: Warning) -> str:
        for action, message, category in self.rules:
            if isinstance(warning, category) and re.match(message, str(warning), re.IGNORECASE):
                return action
        return "default"


def warnings_names(scene: Scene) -> dict[str, Any]:
    """Return the names of the module for one program."""
    filters = _Filters(scene)

    def warn(message: Any, category: Any = None, stacklevel: int = 1, source: Any = None, **_: Any) -> None:
        filters.tell(message if isinstance(message, Warning) else (category or UserWarning)(message))

    def filterwarnings(action: str, message: str = "", category: Any = Warning, *_: Any, **__: Any) -> None:
        filters.rules.insert(0, (action, message, category))

    def simplefilter(action: str, category: Any = Warning, *_: Any, **__: Any) -> None:
        filters.rules.insert(0, (action, "", category))

    def resetwarnings() -> None:
        filters.rules.clear()

    return {
        "WarningMessage": WarningMessage,
        "catch_warnings": _catch_warnings(filters),
        "filterwarnings": filterwarnings,
        "resetwarnings": resetwarnings,
        "simplefilter": simplefilter,
        "warn": warn,
    }


def _catch_warnings(filters: _Filters) -> type:
    class catch_warnings:  # noqa: N801  # the library's name
        """Puts the filters back at its end, and keeps warnings in a list where it is told to."""

        __slots__ = ("_before", "_filter", "_records")

        def __init__(self, *, record: bool = False, action: Any = None, category: Any = Warning, **_: Any) -> None:
            self._records: list[WarningMessage] | None = [] if record else None
            self._filter = (action, "", category)

        def __enter__(self) -> list[WarningMessage] | None:
            self._before = list(filters.rules)
            if self._filter[0] is not None:
                filters.rules.insert(0, self._filter)
            if self._records is not None:
                filters.records.append(self._records)
            return self._records

        def __exit__(self, *_: object) -> None:
            filters.rules[:] = self._before
            if self._records is not None:
                filters.records.pop()

    catch_warnings.__module__, catch_warnings.__qualname__ = "warnings", "catch_warnings"
    return catch_warnings
