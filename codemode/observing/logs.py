"""One log line per execution, without data of programs or services; and log output of a server."""

from __future__ import annotations

import json
import logging
import sys
from collections import Counter
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from codemode.errors import JournalUnavailable
from codemode.observing.log_writer import LogWriter
from codemode.text.times import SECOND_US, rfc3339

if TYPE_CHECKING:
    from collections.abc import Iterator

    from codemode.executions.life.observer import ExecutionStart
    from codemode.executions.types.delivery import Delivery
    from codemode.executions.types.ledger import LedgerEntry
    from codemode.executions.types.outcome import ExecutionOutcome
    from codemode.executions.types.records import PendingCall
    from codemode.executions.types.remembered import Remembered


#: Least time between two lines, in seconds.
EVERY_S = 1.0


class OutageLines(logging.Filter):
    """Passes one record a second of those that carry a JournalUnavailable, and all others.

    A passed record has the number of those left out before it in the field `left_out`, if there are any.
    """

    def __init__(self) -> None:
        super().__init__()
        self._passed = float("-inf")
        self._left_out = 0

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether a record is written."""
        if not any(isinstance(one, JournalUnavailable) for one in _carried(record)):
            return True
        if record.created - self._passed < EVERY_S:
            self._left_out += 1
            return False
        self._passed = record.created
        if self._left_out:
            record.left_out = self._left_out
            self._left_out = 0
        return True


def _carried(record: logging.LogRecord) -> Iterator[object]:
    """Yield the arguments and the exception of a record."""
    yield from record.args if isinstance(record.args, tuple) else ()
    error = record.exc_info[1] if record.exc_info else None
    while error is not None:
        yield error
        error = error.__cause__


LogForm = Literal["json", "text", "off"]

log = logging.getLogger("codemode.executions")

#: Standard attributes of a log record. All others were passed as `extra`.
_OWN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


class LogObserver:
    """Logs each execution that ends: caller, program, status, duration, and number of calls by state."""

    def started(self, execution: ExecutionStart) -> None:
        """Do nothing: only ends are logged."""

    def called(self, execution: ExecutionStart, entry: LedgerEntry) -> None:
        """Do nothing: calls are counted at the end."""

    def ended(self, execution: ExecutionStart, outcome: ExecutionOutcome | None) -> None:
        """Log the execution."""
        facts: dict[str, Any] = {
            "execution": execution.id,
            "caller": execution.caller.id,
            "role": execution.caller.role,
            "program_sha256": execution.digest,
            "status": str(outcome.status) if outcome else "cancelled",
        }
        if outcome is not None:
            facts |= {
                "wall_ms": round(outcome.usage.wall_s * 1000, 1),
                "cpu_ms": round(outcome.usage.cpu_s * 1000, 1),
                "calls": dict(Counter(str(call.state) for call in outcome.calls)),
            }
        log.info("execution ended", extra=facts)

    def decided(self, call: PendingCall) -> None:
        """Do nothing: decisions are in the journal and the audit file."""

    def remembered(self, decision: Remembered) -> None:
        """Do nothing: remembered decisions are in the audit file."""

    def notified(self, delivery: Delivery) -> None:
        """Do nothing: the courier logs failures."""

    def close(self) -> None:
        """Do nothing: there is nothing to close."""


class JsonFormatter(logging.Formatter):
    """Formats one JSON object per line: `at` (RFC 3339, UTC), `level`, `logger`, `message`, and `extra` fields."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        line = {
            "at": rfc3339(record.created * SECOND_US),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **_fields(record),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False, default=str)


class TextFormatter(logging.Formatter):
    """Formats lines for people: time, level, message, fields."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, followed by the traceback of an exception."""
        fields = " ".join(f"{name}={value}" for name, value in _fields(record).items())
        at = datetime.fromtimestamp(record.created, UTC).strftime("%H:%M:%S")
        line = f"{at} {record.levelname.lower()} {record.getMessage()} {fields}".rstrip()
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line


@contextmanager
def written_logs(form: LogForm, *, server_process: int = 0, in_thread: bool = True) -> Iterator[None]:
    """Write logs to standard error within the block: everything from codemode, warnings from other packages.

    For dedicated server processes: it replaces the handlers of the root logger. A `server_process` other than 0 is
    added to each line. Without `in_thread`, a line is written before logging it returns. Of lines about an outage of
    the journal, one a second is written.
    """
    handler = _handler(form, in_thread=in_thread)
    handler.addFilter(OutageLines())
    if server_process:
        handler.addFilter(partial(_with_process, server_process))
    handler.setFormatter(JsonFormatter() if form == "json" else TextFormatter())
    root, own = logging.getLogger(), logging.getLogger("codemode")
    before = root.handlers, root.level, own.level
    root.handlers = [handler]
    root.setLevel(logging.WARNING)
    own.setLevel(logging.INFO)
    try:
        yield
    finally:
        root.handlers = before[0]
        root.setLevel(before[1])
        own.setLevel(before[2])
        handler.close()


def _handler(form: LogForm, *, in_thread: bool) -> logging.Handler:
    if form == "off":
        return logging.NullHandler()
    return LogWriter(sys.stderr.fileno()) if in_thread else logging.StreamHandler()


def _with_process(number: int, record: logging.LogRecord) -> bool:
    record.server_process = number
    return True


def _fields(record: logging.LogRecord) -> dict[str, Any]:
    return {name: value for name, value in vars(record).items() if name not in _OWN}
