# ruff: noqa: N802 - methods and parameters have the library's names
"""`logging`: records go to standard error, whose beginning becomes a note, or to the streams that a program names.

There are no files, no configuration and no filters; a handler of the program's own defines `emit(record)`.
"""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from sandbox.guest.language.compilation import FILENAME
from sandbox.guest.language.own import show_numbers
from sandbox.guest.library.facades.tracebacks import format_exception

if TYPE_CHECKING:
    from sandbox.guest.library.scene import Scene

LEVELS = {"CRITICAL": 50, "ERROR": 40, "WARNING": 30, "INFO": 20, "DEBUG": 10, "NOTSET": 0}
_NAMES = {number: name for name, number in LEVELS.items()}
BASIC_FORMAT = "%(levelname)s:%(name)s:%(message)s"


def _number(level: Any) -> int:
    return LEVELS[level] if isinstance(level, str) else int(level)


def _place() -> tuple[int, str]:
    """Return line and function of the program that logs."""
    frame: Any = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename != FILENAME:
        frame = frame.f_back
    return (0, "") if frame is None else (frame.f_lineno, frame.f_code.co_name)


class Formatter:
    """Writes a record by a form with `%(name)s` in it."""

    def __init__(self, fmt: str | None = None, datefmt: str | None = None, style: str = "%", **_: Any) -> None:
        self._form = fmt if fmt and style == "%" else "%(message)s"

    def formatException(self, ei: Any) -> str:
        """Return the text of an error."""
        return "".join(format_exception(ei[1])).rstrip()

    def format(self, record: Any) -> str:
        """Return the text, and that of the error where there is one."""
        return "\n".join(filter(None, (self._form % vars(record), record.exc_text)))


class Handler:
    """Takes the records of a level and above."""

    def __init__(self, level: Any = 0) -> None:
        self.level = _number(level)
        self.formatter = Formatter()

    def setLevel(self, level: Any) -> None:
        """Set the level."""
        self.level = _number(level)

    def setFormatter(self, fmt: Any) -> None:
        """Set what writes the records."""
        self.formatter = fmt

    def format(self, record: Any) -> str:
        """Write a record."""
        return str(self.formatter.format(record))

    def emit(self, record: Any) -> None:
        """Do nothing with it: subclasses do."""

    def handle(self, record: Any) -> None:
        """Take a record."""
        if record.levelno >= self.level:
            self.emit(record)


class NullHandler(Handler):
    """Takes records, and does nothing."""


class StreamHandler(Handler):
    """Writes records to a stream, to standard error where none is named."""

    def __init__(self, stream: Any = None) -> None:
        super().__init__()
        self.stream = stream

    def emit(self, record: Any) -> None:
        """Write a record."""
        (self.stream or sys.stderr).write(self.format(record) + "\n")


class Logger:
    """Hands records of its level and above to its handlers, and to those of the logger above it."""

    def __init__(self, name: str, parent: Any, level: int = 0) -> None:
        self.name, self.parent, self.level = name, parent, level
        self.handlers: list[Any] = []
        self.propagate = True

    def setLevel(self, level: Any) -> None:
        """Set the level."""
        self.level = _number(level)

    def addHandler(self, hdlr: Any) -> None:
        """Let a handler take the records, too."""
        self.handlers.append(hdlr)

    def removeHandler(self, hdlr: Any) -> None:
        """Let it take them no more."""
        self.handlers = [each for each in self.handlers if each is not hdlr]

    def hasHandlers(self) -> bool:
        """Tell whether anything takes its records."""
        return bool(self.handlers) or (self.parent is not None and self.parent.hasHandlers())

    def getEffectiveLevel(self) -> int:
        """Return its level, or that of the nearest logger above it that has one."""
        return self.level if self.level or self.parent is None else self.parent.getEffectiveLevel()

    def isEnabledFor(self, level: int) -> bool:
        """Tell whether it takes records of a level."""
        return level >= self.getEffectiveLevel()

    def log(self, level: int, msg: object, *args: Any, exc_info: Any = None, extra: Any = None, **_: Any) -> None:
        """Write a record of a level."""
        if not self.isEnabledFor(level):
            return
        try:
            text = str(msg) % (args[0] if len(args) == 1 and isinstance(args[0], dict) else args) if args else str(msg)
        except (TypeError, ValueError, KeyError) as unfit:
            text = f"{msg} (Logging error: {unfit})"
        error = exc_info if isinstance(exc_info, BaseException) else sys.exception() if exc_info else None
        line, function = _place()
        record = SimpleNamespace(
            name=self.name,
            msg=msg,
            args=args,
            message=text,
            levelno=level,
            levelname=_NAMES.get(level, f"Level {level}"),
            exc_text="".join(format_exception(error)).rstrip() if error else "",
            getMessage=lambda: text,
            exc_info=(type(error), error, error.__traceback__) if error else None,
            funcName=function,
            lineno=line,
            **dict.fromkeys(("asctime", "filename", "module", "pathname", "threadName"), ""),
            **(extra or {}),
        )
        self._hand_over(record)

    def _hand_over(self, record: Any) -> None:
        logger: Any = self
        while logger is not None:
            for handler in logger.handlers:
                handler.handle(record)
            logger = logger.parent if logger.propagate else None
        if not self.hasHandlers() and record.levelno >= LEVELS["WARNING"]:
            StreamHandler().handle(record)

    def exception(self, msg: object, *args: Any, exc_info: Any = True, **options: Any) -> None:
        """Write a record of the error that is being handled."""
        self.log(LEVELS["ERROR"], msg, *args, exc_info=exc_info, **options)


def _at(level: int) -> Any:
    def write(self: Logger, msg: object, *args: Any, **options: Any) -> None:
        self.log(level, msg, *args, **options)

    return write


for _name, _level in (*LEVELS.items(), ("WARN", 30), ("FATAL", 50)):
    setattr(Logger, _name.lower(), _at(_level))
for _kind in (Formatter, Handler, NullHandler, StreamHandler, Logger):
    _kind.__module__ = "logging"
    show_numbers(_kind)


class _Loggers:
    """The loggers of one program."""

    def __init__(self) -> None:
        self.root = Logger("root", None, LEVELS["WARNING"])
        self._known: dict[str, Logger] = {}

    def get(self, name: str | None = None) -> Logger:
        if not name or name == "root":
            return self.root
        if name not in self._known:
            above = name.rpartition(".")[0]
            while above and above not in self._known:
                above = above.rpartition(".")[0]
            self._known[name] = Logger(name, self.get(above))
        return self._known[name]

    def configure(self, *, level: Any = None, format: str = BASIC_FORMAT, stream: Any = None, **options: Any) -> None:  # noqa: A002  # the library's signature
        if options.get("filename"):
            raise OSError("there are no files here: leave filename out")
        if level is not None:
            self.root.setLevel(level)
        if options.get("force"):
            self.root.handlers = []
        for handler in options.get("handlers") or ([] if self.root.handlers else [StreamHandler(stream)]):
            handler.setFormatter(Formatter(format))
            self.root.addHandler(handler)

    def of_root(self, method: str) -> Any:
        """Return `logging.info` and its like, which configure what was not."""

        def write(msg: object, *args: Any, **options: Any) -> None:
            if not self.root.handlers:
                self.configure()
            getattr(self.root, method)(msg, *args, **options)

        return write


def logging_names(scene: Scene) -> dict[str, Any]:
    """Return the names of the module for one program."""
    loggers = _Loggers()
    methods = ("debug", "info", "warning", "warn", "error", "critical", "exception", "log")
    return {
        **LEVELS,
        **{name: loggers.of_root(name) for name in methods},
        "basicConfig": lambda **options: loggers.configure(**options),
        "getLogger": lambda name=None: loggers.get(name),
        "getLevelName": lambda level: _NAMES.get(level, LEVELS.get(level, f"Level {level}")),
        "disable": lambda level=50: loggers.root.setLevel(level + 1),
        **{kind.__name__: kind for kind in (Formatter, Handler, Logger, NullHandler, StreamHandler)},
    }
