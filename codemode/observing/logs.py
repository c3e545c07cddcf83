"""A line of log for each execution, without what programs and services say; and how a server writes its log."""

from __future__ import annotations

import json
import logging
import sys
from collections import Counter
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal

from codemode.observing.log_writer import LogWriter

if TYPE_CHECKING:
    from collections.abc import Iterator

    from codemode.executions.execution import ExecutionOutcome
    from codemode.executions.ledger import LedgerEntry
    from codemode.executions.observer import Started

log = logging.getLogger("codemode.executions")

#: What a record has by itself; whatever else it has was said by who logged it.
_OWN = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


class LogObserver:
    """One line for each execution that ends: who, which program, how, how long, how many calls of which state."""

    def started(self, execution: Started) -> None:
        """Nothing is logged yet."""

    def called(self, execution: Started, entry: LedgerEntry) -> None:
        """Calls are counted at the end."""

    def ended(self, execution: Started, outcome: ExecutionOutcome | None) -> None:
        """Log it."""
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

    def close(self) -> None:
        """Nothing is open."""


class JsonFormatter(logging.Formatter):
    """One JSON object a line: `at` (ISO 8601, UTC), `level`, `logger`, `message`, and the fields of the record."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        line = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **_fields(record),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False, default=str)


class TextFormatter(logging.Formatter):
    """A line for a person: time, level, message, fields."""

    def format(self, record: logging.LogRecord) -> str:
        """The line, and the traceback of an exception below it."""
        fields = " ".join(f"{name}={value}" for name, value in _fields(record).items())
        at = datetime.fromtimestamp(record.created, UTC).strftime("%H:%M:%S")
        line = f"{at} {record.levelname.lower()} {record.getMessage()} {fields}".rstrip()
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line


@contextmanager
def written_logs(form: Literal["json", "text", "off"]) -> Iterator[None]:
    """Write what this process logs to standard error meanwhile: of this package all, of others what is wrong.

    For a process that does nothing else: the handlers of the root logger are replaced.
    """
    handler = logging.NullHandler() if form == "off" else LogWriter(sys.stderr.fileno())
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


def _fields(record: logging.LogRecord) -> dict[str, Any]:
    return {name: value for name, value in vars(record).items() if name not in _OWN}
