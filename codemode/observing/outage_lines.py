"""A limit on log lines about a journal that is away: with each request there would be one, thousands in a second."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from codemode.errors import JournalUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterator

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
