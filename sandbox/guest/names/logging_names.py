# ruff: noqa: A002, D102, N802 - names and methods are the library's
"""`logging`, small: levels, loggers by name, `%` formatting; records go to the output."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from sandbox.guest.runtime.traces import program_lines

if TYPE_CHECKING:
    from sandbox.guest.names.scene import Scene

LEVELS = {"NOTSET": 0, "DEBUG": 10, "INFO": 20, "WARNING": 30, "ERROR": 40, "CRITICAL": 50, "WARN": 30, "FATAL": 50}
_NAMES = {0: "NOTSET", 10: "DEBUG", 20: "INFO", 30: "WARNING", 40: "ERROR", 50: "CRITICAL"}


class _Settings:
    """What `basicConfig` sets, shared by the loggers of one program."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.level = LEVELS["WARNING"]
        self.form: str | None = None
        self.date_form: str | None = None
        self.stream: Any = None
        self.is_set = False


class Logger:
    """Writes records of its level and above."""

    __slots__ = ("_level", "_settings", "disabled", "name", "propagate")

    def __init__(self, name: str, settings: _Settings) -> None:
        self.name = name
        self._settings = settings
        self._level = 0
        self.disabled = False
        self.propagate = True

    @property
    def level(self) -> int:
        return self._level

    @property
    def handlers(self) -> list[Any]:
        return []

    def setLevel(self, level: int | str) -> None:
        self._level = _level(level)

    def getEffectiveLevel(self) -> int:
        return self._level or self._settings.level

    def isEnabledFor(self, level: int) -> bool:
        return not self.disabled and level >= self.getEffectiveLevel()

    def hasHandlers(self) -> bool:
        return self._settings.is_set

    def addHandler(self, handler: Any) -> None:
        """Take part in what a handler asks for: its form and its stream."""
        self._settings.is_set = True
        if isinstance(handler, Handler):
            self._settings.form = handler.form or self._settings.form
            self._settings.stream = handler.stream

    def removeHandler(self, handler: Any) -> None:
        """Do nothing: records go to the output."""

    def getChild(self, suffix: str) -> Logger:
        return Logger(f"{self.name}.{suffix}", self._settings)

    def debug(self, msg: Any, *args: Any, **options: Any) -> None:
        self.log(10, msg, *args, **options)

    def info(self, msg: Any, *args: Any, **options: Any) -> None:
        self.log(20, msg, *args, **options)

    def warning(self, msg: Any, *args: Any, **options: Any) -> None:
        self.log(30, msg, *args, **options)

    warn = warning

    def error(self, msg: Any, *args: Any, **options: Any) -> None:
        self.log(40, msg, *args, **options)

    def exception(self, msg: Any, *args: Any, **options: Any) -> None:
        self.log(40, msg, *args, **{"exc_info": True, **options})

    def critical(self, msg: Any, *args: Any, **options: Any) -> None:
        self.log(50, msg, *args, **options)

    fatal = critical

    def log(self, level: int, msg: Any, *args: Any, exc_info: Any = None, **options: Any) -> None:
        if self.isEnabledFor(level):
            _write(self._settings, self.name, level, _message(msg, args), exc_info)


class Handler:
    """Keeps what a handler is told; records are written by the loggers."""

    __slots__ = ("form", "level", "stream")

    def __init__(self, stream: Any = None) -> None:
        self.stream = stream
        self.form: str | None = None
        self.level = 0

    def setFormatter(self, formatter: Any) -> None:
        self.form = formatter.form if isinstance(formatter, Formatter) else None

    def setLevel(self, level: int | str) -> None:
        self.level = _level(level)


class Formatter:
    """Keeps a form."""

    __slots__ = ("datefmt", "form")

    def __init__(self, fmt: str | None = None, datefmt: str | None = None, style: str = "%", **_: Any) -> None:
        self.form = fmt if style == "%" else None
        self.datefmt = datefmt


def logging_names(scene: Scene) -> dict[str, Any]:
    """Return the names of the module for one program."""
    settings = _Settings(scene)
    root = Logger("root", settings)
    loggers = {"root": root}

    def getLogger(name: str | None = None) -> Logger:
        return loggers.setdefault(name or "root", Logger(name or "root", settings))

    def basicConfig(
        *,
        level: int | str | None = None,
        format: str | None = None,
        datefmt: str | None = None,
        stream: Any = None,
        force: bool = False,
        style: str = "%",
        **_: Any,
    ) -> None:
        if settings.is_set and not force:
            return
        settings.is_set = True
        settings.level = LEVELS["WARNING"] if level is None else _level(level)
        settings.form = format if style == "%" else None
        settings.date_form, settings.stream = datefmt, stream

    methods = ("debug", "info", "warning", "warn", "error", "exception", "critical", "fatal", "log")
    return {
        **LEVELS,
        **{name: getattr(root, name) for name in methods},
        "getLogger": getLogger,
        "basicConfig": basicConfig,
        "getLevelName": lambda level: (
            _NAMES.get(level, f"Level {level}") if isinstance(level, int) else LEVELS.get(level)
        ),
        "StreamHandler": Handler,
        "NullHandler": Handler,
        "Formatter": Formatter,
        "Logger": Logger,
        "Handler": Handler,
        "disable": lambda level=50: setattr(root, "disabled", True),
    }


def _level(level: int | str) -> int:
    if isinstance(level, int):
        return level
    found = LEVELS.get(level)
    if found is None:
        message = f"Unknown level: {level!r}"
        raise ValueError(message)
    return found


def _message(msg: Any, args: tuple[Any, ...]) -> str:
    text = str(msg)
    if not args:
        return text
    return text % (args[0] if len(args) == 1 and isinstance(args[0], dict) and args[0] else args)


def _write(settings: _Settings, name: str, level: int, message: str, exc_info: Any) -> None:
    form = settings.form or ("%(levelname)s:%(name)s:%(message)s" if settings.is_set else "%(message)s")
    line = form % _fields(settings, name, level, message)
    if exc_info:
        line += _error_lines(exc_info)
    if settings.stream is None:
        settings.scene.errors.write(line + "\n")
    else:
        settings.stream.write(line + "\n")


def _fields(settings: _Settings, name: str, level: int, message: str) -> dict[str, Any]:
    """Return what a form may name, as plain data: the form is the program's, and may be more than text."""
    fields: dict[str, Any] = dict.fromkeys(_OTHER_FIELDS, 0)
    fields |= {"name": name, "levelname": _NAMES.get(level, str(level)), "levelno": level, "message": message}
    fields |= {"threadName": "MainThread", "filename": "program", "module": "program", "funcName": "<module>"}
    form = str.__str__(settings.form or "")
    if "created" in form or "relativeCreated" in form or "msecs" in form:
        fields |= dict.fromkeys(("created", "relativeCreated", "msecs"), settings.scene.clock.read())
    if "asctime" in form:
        moment = time.gmtime(settings.scene.clock.read())
        date_form = settings.date_form
        fields["asctime"] = time.strftime(date_form or "%Y-%m-%d %H:%M:%S", moment) + ("" if date_form else ",000")
    return {**fields, "process": 1}


_OTHER_FIELDS = ("lineno", "pathname", "processName", "thread", "taskName", "msg", "args", "asctime")


def _error_lines(exc_info: Any) -> str:
    import sys  # noqa: PLC0415  # read where the error is being handled

    error = exc_info if isinstance(exc_info, BaseException) else sys.exc_info()[1]
    if error is None:
        return ""
    lines = [f'\n  File "<program>", line {line}, in {name}' for line, name in program_lines(error.__traceback__)]
    return "\nTraceback (most recent call last):" + "".join(lines) + f"\n{type(error).__name__}: {error}"
