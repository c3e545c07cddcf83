"""The servers: `codemode serve`, each in a network and with a state folder of its own."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.nightly.chaos import network
from tests.nightly.chaos.versions import ROOT, THIS, Version

if TYPE_CHECKING:
    from collections.abc import Mapping

PORT = 8080

#: Seconds that a server may take to start or to stop on a busy machine.
PATIENCE_S = 60.0

#: Bytes of a state folder.
_STATE_BYTES = 4 * 1024**2

#: What libfaketime does: it reads its offset from a file each second, and leaves the monotonic clock alone.
_CLOCK = {"FAKETIME_DONT_FAKE_MONOTONIC": "1", "FAKETIME_CACHE_DURATION": "1", "FAKETIME_NO_CACHE": "0"}


class Server:
    """One server. `lock` is held by the fault that has it."""

    def __init__(self, name: str, folder: Path, configuration: Mapping[str, Any]) -> None:
        self.name = name
        self.address = network.address(name)
        self.lock = asyncio.Lock()
        self.version = THIS
        self._folder = folder
        self._log = folder / "log"
        self._state = folder / "state"
        self._clock = folder / "clock"
        self._process: asyncio.subprocess.Process | None = None
        self._state.mkdir(parents=True)
        size = f"size={_STATE_BYTES}"
        subprocess.run(["mount", "-t", "tmpfs", "-o", size, "state", str(self._state)], check=True)
        own: dict[str, Any] = {"server": {**configuration["server"], "host": self.address, "port": PORT}}
        own |= {"state_folder": str(self._state), "cache_folder": str(folder / "cache")}
        (folder / "codemode.yaml").write_text(json.dumps({**configuration, **own}), encoding="utf-8")
        self.set_clock(0)

    @property
    def pid(self) -> int:
        """The process id, 0 if it does not run."""
        return self._process.pid if self._process is not None else 0

    async def start(self, version: Version | None = None) -> None:
        """Start it, with this version from now on, and wait until it is ready."""
        self.version = version or self.version
        inside = [*network.inside(self.name), sys.executable, "-m", "codemode", "serve", "--config", "codemode.yaml"]
        with self._log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                *inside, stdout=log, stderr=log, cwd=self._folder, env=self._environment(), start_new_session=True
            )
        await self.ready()

    async def ready(self) -> None:
        """Wait until it takes requests."""
        deadline = time.monotonic() + PATIENCE_S
        while not await self._is_ready():
            if self._process is not None and self._process.returncode is not None:
                message = f"{self.name} has ended with {self._process.returncode}: {self._log.read_text()[-2000:]}"
                raise AssertionError(message)
            assert time.monotonic() < deadline, f"{self.name} is not ready after {PATIENCE_S:g} s"
            await asyncio.sleep(0.05)

    async def kill(self) -> None:
        """Kill it."""
        await self._end(signal.SIGKILL)

    async def terminate(self) -> None:
        """Stop it as an operator does, and wait until it has ended."""
        await self._end(signal.SIGTERM)

    def stop(self) -> None:
        """Let it stand still."""
        os.kill(self.pid, signal.SIGSTOP)

    def go_on(self) -> None:
        """Let it run again."""
        os.kill(self.pid, signal.SIGCONT)

    def set_clock(self, offset_s: int) -> None:
        """Set how far its clock is off. Only a server with a movable clock cares."""
        self._clock.write_text(f"{offset_s:+d}", encoding="utf-8")

    def fill(self) -> None:
        """Fill the file system of its state folder."""
        with suppress(OSError), (self._state / "filler").open("wb", buffering=0) as file:
            while True:
                file.write(bytes(65536))

    def make_room(self) -> None:
        """Remove what filled it."""
        (self._state / "filler").unlink()

    async def _is_ready(self) -> bool:
        try:
            async with asyncio.timeout(2.0):
                reader, writer = await asyncio.open_connection(self.address, PORT)
                writer.write(b"GET /readyz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
                status = await reader.readline()
                writer.close()
        except (OSError, TimeoutError):
            return False
        return b" 200 " in status

    async def _end(self, sig: signal.Signals) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.send_signal(sig)
            await asyncio.wait_for(process.wait(), PATIENCE_S)

    def _environment(self) -> dict[str, str]:
        path = os.pathsep.join((self.version.path, str(ROOT))).strip(os.pathsep)
        clock = {"FAKETIME_TIMESTAMP_FILE": str(self._clock), **_CLOCK, "LD_PRELOAD": _library()}
        has_movable_clock = self.name == MOVABLE_CLOCK
        return {"PATH": "/usr/bin:/bin:/usr/sbin", "PYTHONPATH": path, **(clock if has_movable_clock else {})}


#: The server whose clock can be moved: that library costs time on every other.
MOVABLE_CLOCK = "s3"


def _library() -> str:
    found = sorted(Path("/usr/lib").glob("*/faketime/libfaketimeMT.so.1"))
    return str(found[0])
