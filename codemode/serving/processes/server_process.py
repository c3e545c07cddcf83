"""One of several server processes, and what it shares with the others."""

from __future__ import annotations

import hmac
import os
import shutil
import signal
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import asyncio
    from pathlib import Path

#: Folders below the shared one. prometheus_client names the files of the second one by pid.
_SESSIONS = "sessions"
_METRICS = "metrics"


@dataclass(frozen=True, slots=True)
class ServerProcess:
    """Process `number` of `count`, counted from 1.

    `folder` and `secret` belong to all processes. The file descriptor `supervisor_end` can be read once the supervisor
    has ended.
    """

    number: int
    count: int
    folder: Path
    secret: bytes = field(repr=False)
    supervisor_end: int

    def end_with_supervisor(self, loop: asyncio.AbstractEventLoop) -> None:
        """Stop as after SIGTERM if the supervisor ends, and remove what it can no longer remove."""

        def stop() -> None:
            loop.remove_reader(self.supervisor_end)
            shutil.rmtree(self.folder, ignore_errors=True)
            os.kill(os.getpid(), signal.SIGTERM)

        loop.add_reader(self.supervisor_end, stop)

    def derived(self, purpose: str) -> bytes:
        """Return a secret for one purpose, the same in all processes."""
        return hmac.digest(self.secret, purpose.encode(), "sha256")

    @property
    def sessions(self) -> Path:
        """The folder of the console's sessions."""
        return self._made(_SESSIONS)

    @property
    def metrics(self) -> Path:
        """The folder of the metrics."""
        return self._made(_METRICS)

    def share_metrics(self) -> None:
        """Have prometheus_client write to the folder of the metrics. Call it before that is imported."""
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(self.metrics)  # noqa: TID251 -- its only interface

    def _made(self, name: str) -> Path:
        folder = self.folder / name
        folder.mkdir(mode=0o700, exist_ok=True)
        return folder

    @staticmethod
    def forget(folder: Path, pid: int) -> None:
        """Remove the gauges of an ended process. Its counters still count."""
        for gauge in (folder / _METRICS).glob(f"gauge_live*_{pid}.db"):
            gauge.unlink(missing_ok=True)
