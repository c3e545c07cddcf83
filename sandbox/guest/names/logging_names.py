# ruff: noqa: A002, D102, N802, N803 - names, methods and parameters are the library's
"""`logging`: loggers by name, over the library's handlers, formatters and filters as `logging_kinds` has them.

There are no files to write to: what has no stream goes to standard error.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from sandbox.guest.names.kinds import stand_in
from sandbox.guest.names.logging_kinds import (
    KNOWN_LEVELS,
    LEVELS,
    PLAIN,
    Filter,
    Filterer,
    Formatter,
    Handler,
    LogRecord,
    NullHandler,
)
from sandbox.guest.names.traceback_names import format_exception
from sandbox.guest.runtime.access import WRITABLE
from sandbox.guest.runtime.classes import BASES
from sandbox.guest.runtime.copying import COPIED
from sandbox.guest.runtime.handed_out import handed_out
from sandbox.guest.runtime.traces import Trace

if TYPE_CHECKING:
    from sandbox.guest.names.scene import Scene

BASIC_FORMAT = "%(levelname)s:%(name)s:%(message)s"


class Core:
    """What the loggers of one program share."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.disabled_below = -1
        self.loggers: dict[str, Logger] = {}
        self.root = Logger(self, "root", LEVELS["WARNING"])

    def logger(self, name: str | None = None) -> Logger:
        if name is None or name == "root":
            return self.root
        return self.loggers.setdefault(name, Logger(self, name, 0))

    def parent(self, logger: Logger) -> Logger | None:
        if logger is self.root:
            return None
        name = logger.name
        while "." in name:
            name = name.rpartition(".")[0]
            if name in self.loggers:
                return self.loggers[name]
        return self.root


class Logger(Filterer):
    """Hands records of its level and above to its handlers, and to those of the loggers above it."""

    def __init__(self, core: Core, name: str, level: int | str = 0) -> None:
        super().__init__()
        self._core = core
        self.name, self.level = name, KNOWN_LEVELS.number(level)
        self.propagate, self.disabled = True, False
        self.handlers: list[Any] = []

    @property
    def parent(self) -> Logger | None:
        return self._core.parent(self)

    @property
    def root(self) -> Logger:
        return self._core.root

    def setLevel(self, level: int | str) -> None:
        self.level = KNOWN_LEVELS.number(level)

    def getEffectiveLevel(self) -> int:
        logger: Logger | None = self
        while logger is not None and not logger.level:
            logger = logger.parent
        return logger.level if logger is not None else 0

    def isEnabledFor(self, level: int) -> bool:
        return not self.disabled and level > self._core.disabled_below and level >= self.getEffectiveLevel()

    def addHandler(self, hdlr: Any) -> None:
        if hdlr not in self.handlers:
            self.handlers.append(hdlr)

    def removeHandler(self, hdlr: Any) -> None:
        if hdlr in self.handlers:
            self.handlers.remove(hdlr)

    def hasHandlers(self) -> bool:
        return any(True for _ in self._all_handlers())

    def getChild(self, suffix: str) -> Logger:
        return self._core.logger(suffix if self is self._core.root else f"{self.name}.{suffix}")

    def debug(self, msg: Any, *args: Any, **options: Any) -> None:
        self.log(10, msg, *args, **options)

    def info(self, msg: Any, *args: Any, **options: Any) -> None:
        self.log(20, msg, *args, **options)

    def warning(self, msg: Any, *args: Any, **options: Any) -> None:
        self.log(30, msg, *args, **options)

    warn = warning

    def error(self, msg: Any, *args: Any, **options: Any) -> None:
        self.log(40, msg, *args, **options)

    def exception(self, msg: Any, *args: Any, exc_info: Any = True, **options: Any) -> None:
        self.log(40, msg, *args, exc_info=exc_info, **options)

    def critical(self, msg: Any, *args: Any, **options: Any) -> None:
        self.log(50, msg, *args, **options)

    fatal = critical

    def log(self, level: int, msg: Any, *args: Any, exc_info: Any = None, extra: Any = None, **_: Any) -> None:
        if not isinstance(level, int):
            raise TypeError("level must be an integer")
        if self.isEnabledFor(level):
            record = LogRecord(
                self.name, level, str(KNOWN_LEVELS.name(level)), msg, args, self._core.scene.clock.read()
            )
            record.exc_info = _exc_info(exc_info)
            for key, value in dict(extra or {}).items():
                if key in ("message", "asctime") or key in vars(record):
                    message = f"Attempt to overwrite {key!r} in LogRecord"
                    raise KeyError(message)
                vars(record)[key] = value
            self.handle(record)

    def handle(self, record: Any) -> None:
        record = not self.disabled and self.filter(record)
        if not record:
            return
        handlers = list(self._all_handlers())
        for handler in handlers:
            if record.levelno >= handler.level:
                handler.handle(record)
        if not handlers and record.levelno >= LEVELS["WARNING"]:
            self._core.scene.errors.write(PLAIN.format(record) + "\n")

    def _all_handlers(self) -> Any:
        logger: Logger | None = self
        while logger is not None:
            yield from logger.handlers
            logger = logger.parent if logger.propagate else None

    def __repr__(self) -> str:
        return f"<Logger {self.name} ({KNOWN_LEVELS.name(self.getEffectiveLevel())})>"


class LoggerAdapter:
    """Adds what it was given to each record of a logger."""

    def __init__(self, logger: Any, extra: Any = None, **_: Any) -> None:
        self.logger, self.extra = logger, extra

    def process(self, msg: Any, kwargs: Any) -> tuple[Any, Any]:
        return msg, {**kwargs, "extra": self.extra}

    def log(self, level: int, msg: Any, *args: Any, **options: Any) -> None:
        msg, options = self.process(msg, options)
        self.logger.log(level, msg, *args, **options)

    def exception(self, msg: Any, *args: Any, exc_info: Any = True, **options: Any) -> None:
        self.log(40, msg, *args, exc_info=exc_info, **options)

    debug, info, warning, error, critical = Logger.debug, Logger.info, Logger.warning, Logger.error, Logger.critical


def _exc_info(given: Any) -> Any:
    error = given if isinstance(given, BaseException) else sys.exc_info()[1] if given else None
    return None if error is None else (type(error), error, Trace.of(error))


def _stream_handler(scene: Scene) -> type:
    streams = scene.streams

    class StreamHandler(Handler):
        """Writes records to a stream."""

        terminator = "\n"

        def __init__(self, stream: Any = None) -> None:
            super().__init__()
            self.stream = streams.current["stderr"] if stream is None else stream

        def setStream(self, stream: Any) -> Any:
            before, self.stream = self.stream, stream
            return before

        def emit(self, record: Any) -> None:
            try:
                self.stream.write(self.format(record) + self.terminator)
            except RecursionError:
                raise
            except Exception as error:  # noqa: BLE001  # as the library does: a bad record ends no program
                streams.current["stderr"].write(f"--- Logging error ---\n{''.join(format_exception(error))}")

    StreamHandler.__qualname__, StreamHandler.__module__ = "StreamHandler", "logging"
    handed_out(StreamHandler)
    WRITABLE.add(StreamHandler)
    BASES.add(StreamHandler)
    return StreamHandler


for _kind in (Filterer, LogRecord, Filter, Formatter, Handler, NullHandler, Logger, LoggerAdapter):
    _kind.__module__ = "logging"
    handed_out(_kind)
    WRITABLE.add(_kind)
COPIED.add(LogRecord)
BASES.update((Filter, Formatter, Handler, NullHandler, LoggerAdapter))


def logging_names(scene: Scene) -> dict[str, Any]:
    """Return the names of the module for one program."""
    KNOWN_LEVELS.begin()
    core = Core(scene)
    root = core.root
    stream_handler = _stream_handler(scene)

    def basicConfig(*, force: bool = False, **options: Any) -> None:
        if force:
            root.handlers.clear()
        if not root.handlers:
            handlers = options.get("handlers") or [stream_handler(options.get("stream"))]
            _configure(root, handlers, **options)

    def by_root(name: str) -> Any:
        def write(*args: Any, **options: Any) -> None:
            if not root.handlers:
                basicConfig()
            getattr(root, name)(*args, **options)

        write.__name__ = write.__qualname__ = name
        return write

    def disable(level: int | str = 50) -> None:
        core.disabled_below = KNOWN_LEVELS.number(level)

    methods = ("debug", "info", "warning", "warn", "error", "exception", "critical", "fatal", "log")
    return {
        **LEVELS,
        **{name: by_root(name) for name in methods},
        **{kind.__name__: kind for kind in (Filter, Formatter, Handler, NullHandler, LoggerAdapter)},
        "BASIC_FORMAT": BASIC_FORMAT,
        "LogRecord": stand_in("LogRecord", "logging", LogRecord),
        "Logger": stand_in("Logger", "logging", Logger, make=lambda name, level=0: Logger(core, name, level)),
        "StreamHandler": stream_handler,
        "addLevelName": lambda level, levelName: KNOWN_LEVELS.add(level, levelName),
        "basicConfig": basicConfig,
        "captureWarnings": lambda capture: None,
        "disable": disable,
        "getLevelName": lambda level: KNOWN_LEVELS.name(level),
        "getLogger": lambda name=None: core.logger(name),
        "root": root,
        "shutdown": lambda: None,
    }


def _configure(
    root: Logger,
    handlers: Any,
    *,
    format: Any = None,
    datefmt: Any = None,
    style: Any = "%",
    level: Any = None,
    **_: Any,
) -> None:
    form = Formatter(format or _BASIC.get(style), datefmt, style)
    for handler in handlers:
        if handler.formatter is None:
            handler.setFormatter(form)
        root.addHandler(handler)
    if level is not None:
        root.setLevel(level)


_BASIC = {"%": BASIC_FORMAT, "{": "{levelname}:{name}:{message}", "$": "${levelname}:${name}:${message}"}
