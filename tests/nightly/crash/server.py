"""The server that is killed: `python -m tests.nightly.crash.server CONFIG` forks `codemode serve` for each line.

Each line is JSON, `{}` or a boundary of the journal at which that server kills itself: `{"before": n}` or
`{"after": n}`, the n-th append counted from its start. The answer is a line with its process id; the server says its
address on standard error as it always does. What is loaded once is shared, so that a server starts within 0.1 s.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import sys
from typing import TYPE_CHECKING, Any

import codemode.serving.application.app  # noqa: F401 -- loaded before the fork
from codemode.executions.journal.sqlite.journal import SqliteJournal
from codemode.serving.application.server import serve
from codemode.settings import load_settings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codemode.executions.types.records import JournalEntry, Lease


def end_at(boundary: dict[str, int]) -> None:
    """Let this process be killed right before or after an append, as if by another."""
    append = SqliteJournal.append
    count = 0

    async def counted(
        self: SqliteJournal, lease: Lease, entries: Sequence[JournalEntry], *, at_once: bool = False
    ) -> int:
        nonlocal count
        count += 1
        number = count
        if boundary.get("before") == number:
            os.kill(os.getpid(), signal.SIGKILL)
        sequence = await append(self, lease, entries, at_once=at_once)
        if boundary.get("after") == number:
            os.kill(os.getpid(), signal.SIGKILL)
        return sequence

    SqliteJournal.append = counted  # type: ignore[method-assign]


def main(config: str) -> None:
    """Fork a server for each line, until input ends."""
    settings = load_settings(config)
    gc.freeze()
    for line in sys.stdin:
        order: dict[str, Any] = json.loads(line)
        child = os.fork()
        if not child:
            end_at(order)
            serve(settings, lambda: settings)
            os._exit(0)
        print(child, flush=True)  # noqa: T201
        os.waitpid(child, 0)
        print("ended", flush=True)  # noqa: T201


if __name__ == "__main__":
    main(sys.argv[1])
