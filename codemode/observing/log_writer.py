"""Write log lines in a separate thread, so that a slow or stalled reader blocks nobody."""

from __future__ import annotations

import logging
import os
from queue import Full, Queue
from threading import Lock, Thread

#: Maximum number of queued lines. Further lines are counted and dropped.
WAITING = 1000

#: Seconds to write queued lines when the log is closed.
LAST_S = 1.0


class LogWriter(logging.Handler):
    """Writes to a file descriptor. After lines were dropped, the next written line reports how many."""

    def __init__(self, descriptor: int, *, waiting: int = WAITING) -> None:
        super().__init__()
        self._descriptor = descriptor
        self._records: Queue[logging.LogRecord | None] = Queue(waiting)
        self._dropped = 0
        self._counting = Lock()
        self._thread = Thread(target=self._write_all, name="log writer", daemon=True)
        self._thread.start()

    def emit(self, record: logging.LogRecord) -> None:
        """Queue the record, or drop it if the queue is full. Never blocks."""
        try:
            self._records.put_nowait(record)
        except Full:
            self._drop()

    def close(self) -> None:
        """Write queued lines for up to `LAST_S` seconds, then stop."""
        try:
            self._records.put(None, timeout=LAST_S)
        except Full:
            pass
        else:
            self._thread.join(LAST_S)
        super().close()

    def _write_all(self) -> None:
        while record := self._records.get():
            self._write(record)
            if self._dropped and self._records.empty():
                with self._counting:
                    dropped, self._dropped = self._dropped, 0
                fields = {"name": __name__, "levelname": "WARNING", "msg": "log lines were dropped"}
                self._write(logging.makeLogRecord({**fields, "lines": dropped}), standing_for=dropped)

    def _write(self, record: logging.LogRecord, *, standing_for: int = 1) -> None:
        try:
            line = memoryview(f"{self.format(record)}\n".encode("utf-8", "backslashreplace"))
            while line:
                line = line[os.write(self._descriptor, line) :]
        except Exception:  # noqa: BLE001 -- a full disk, a closed pipe, a record that cannot be formatted
            self._drop(standing_for)

    def _drop(self, lines: int = 1) -> None:
        with self._counting:
            self._dropped += lines
