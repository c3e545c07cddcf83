# ruff: noqa: A002, D102, N802 - names, methods and parameters are the library's
"""`logging`: records, and what is done with them: filters, formatters, handlers.

Handlers, formatters and filters are inherited from, so they hold nothing but what the program gave them.
"""

from __future__ import annotations

import string
import sys
import time
from collections.abc import Mapping
from typing import Any

from sandbox.guest.language.compilation import FILENAME
from sandbox.guest.language.fields import walks_plainly
from sandbox.guest.names.traceback_names import format_exception
from sandbox.guest.runtime.handed_out import checked

LEVELS = {"CRITICAL": 50, "FATAL": 50, "ERROR": 40, "WARNING": 30, "WARN": 30, "INFO": 20, "DEBUG": 10, "NOTSET": 0}


class Levels:
    """Numbers and names of levels."""

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """Know the library's levels alone."""
        self._numbers = dict(LEVELS)
        self._names = {number: name for name, number in reversed(LEVELS.items()) if name not in ("WARN", "FATAL")}

    def number(self, level: int | str) -> int:
        if isinstance(level, int):
            return level
        if level not in self._numbers:
            message = f"Unknown level: {level!r}"
            raise ValueError(message)
        return self._numbers[level]

    def name(self, level: int | str) -> Any:
        return self._names.get(level) or self._numbers.get(level) or f"Level {level}"  # type: ignore[arg-type]

    def add(self, level: int, name: str) -> None:
        self._names[level] = name
        self._numbers[name] = level


KNOWN_LEVELS = Levels()


class LogRecord:
    """One event. What `extra` names is an attribute as well."""

    def __init__(self, name: str, level: int, levelname: str, msg: Any, args: Any, created: float) -> None:
        self.name, self.levelno, self.levelname = name, level, levelname
        is_named = len(args) == 1 and isinstance(args[0], Mapping) and args[0]
        self.msg, self.args, self.created = msg, args[0] if is_named else args, created
        self.msecs, self.relativeCreated = int(created % 1 * 1000), 0.0
        self.exc_info: Any = None
        self.exc_text: str | None = None
        self.stack_info: str | None = None
        self.pathname = self.filename = self.module = FILENAME
        self.lineno, self.funcName = _caller()
        self.process, self.processName, self.thread, self.threadName = 1, "MainProcess", 1, "MainThread"
        self.taskName: str | None = None

    def getMessage(self) -> str:
        text = str(self.msg)
        return str(str.__str__(text) % self.args) if self.args else text


def _caller() -> tuple[int, str]:
    """Return line and function of the program that logs."""
    frame = sys._getframe(1)
    while frame.f_code.co_filename != FILENAME:
        if frame.f_back is None:
            return 0, "<module>"
        frame = frame.f_back
    return frame.f_lineno, frame.f_code.co_name


class Filterer:
    """What loggers and handlers have in common: filters that see each record first."""

    def __init__(self) -> None:
        self.filters: list[Any] = []

    def addFilter(self, filter: Any) -> None:
        if filter not in self.filters:
            self.filters.append(filter)

    def removeFilter(self, filter: Any) -> None:
        if filter in self.filters:
            self.filters.remove(filter)

    def filter(self, record: Any) -> Any:
        for each in self.filters:
            answer = each.filter(record) if hasattr(each, "filter") else each(record)
            if not answer:
                return False
            if isinstance(answer, LogRecord):
                record = answer
        return record


class Filter:
    """Lets records of one logger, and of those below it, through."""

    def __init__(self, name: str = "") -> None:
        self.name = name

    def filter(self, record: Any) -> bool:
        return not self.name or record.name == self.name or record.name.startswith(self.name + ".")


class Formatter:
    """Makes text of records."""

    def __init__(self, fmt: str | None = None, datefmt: str | None = None, style: str = "%", **_: Any) -> None:
        if style not in _FORMS:
            message = f"Style must be one of: {','.join(_FORMS)}"
            raise ValueError(message)
        self.fmt = fmt or _FORMS[style]
        self.style = style
        self.datefmt = datefmt

    def usesTime(self) -> bool:
        return "asctime" in self.fmt

    def formatTime(self, record: Any, datefmt: str | None = None) -> str:
        moment = time.gmtime(record.created)
        if datefmt:
            return time.strftime(datefmt, moment)
        return f"{time.strftime('%Y-%m-%d %H:%M:%S', moment)},{record.msecs:03d}"

    def formatException(self, ei: Any) -> str:
        return "".join(format_exception(*ei)).removesuffix("\n")

    def formatStack(self, stack_info: str) -> str:
        return stack_info

    def formatMessage(self, record: Any) -> str:
        fields = dict(vars(checked(LogRecord, record)))
        form = str.__str__(self.fmt)
        if self.style == "%":
            return form % fields
        if self.style == "$":
            return string.Template(form).substitute(fields)
        if not walks_plainly(form):
            raise ValueError("a form of logging names fields, and none of their attributes")
        return form.format(**fields)

    def format(self, record: Any) -> str:
        record.message = checked(LogRecord, record).getMessage()
        if self.usesTime():
            record.asctime = self.formatTime(record, self.datefmt)
        text = self.formatMessage(record)
        if record.exc_info and not record.exc_text:
            record.exc_text = self.formatException(record.exc_info)
        for more in (record.exc_text, record.stack_info):
            text += f"\n{more}" if more else ""
        return text


_FORMS = {"%": "%(message)s", "{": "{message}", "$": "${message}"}
PLAIN = Formatter()


class Handler(Filterer):
    """Does something with records; `emit` is for those who inherit."""

    def __init__(self, level: int | str = 0) -> None:
        super().__init__()
        self.name: str | None = None
        self.level = KNOWN_LEVELS.number(level)
        self.formatter: Any = None

    def setLevel(self, level: int | str) -> None:
        self.level = KNOWN_LEVELS.number(level)

    def setFormatter(self, fmt: Any) -> None:
        self.formatter = fmt

    def format(self, record: Any) -> str:
        return (self.formatter if isinstance(self.formatter, Formatter) else PLAIN).format(record)

    def handle(self, record: Any) -> Any:
        found = self.filter(record)
        if found:
            self.emit(found)
        return found

    def emit(self, record: Any) -> None:
        # Part of the interface: what logging.Handler.emit of the library raises, in its words.
        raise NotImplementedError("emit must be implemented by Handler subclasses")

    def get_name(self) -> str | None:
        return self.name

    def set_name(self, name: str) -> None:
        self.name = name

    def acquire(self) -> None:
        """Do nothing: one piece of the program runs at a time."""

    release = flush = close = acquire


class NullHandler(Handler):
    """Does nothing."""

    def handle(self, record: Any) -> None:
        """Do nothing."""

    emit = handle
