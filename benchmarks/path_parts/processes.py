"""The processes of a measurement: start them, stop them, and read their processor time."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.path_parts.upstream import KEY, document

if TYPE_CHECKING:
    from collections.abc import Iterator

#: The keys of the server. Two callers together may use all places of the server.
KEYS = ("one", "two")

_PATH = os.environ["PATH"]  # noqa: TID251 -- passed on to the processes
_START_S = 60.0
_SCHEDULED_TIME = 2  # CPUCLOCK_SCHED in the kernel's posix-timers_types.h


class Spent(NamedTuple):
    """Processor time in seconds. A peer has no fork server, and its `workers_s` are all processes that it started."""

    server_s: float = 0.0
    fork_server_s: float = 0.0
    workers_s: float = 0.0

    @property
    def in_all(self) -> float:
        """The processor time of all processes."""
        return sum(self)

    def since(self, before: Spent) -> Spent:
        """Return the difference to `before`."""
        return Spent(*(now - then for now, then in zip(self, before, strict=True)))

    def plus(self, other: Spent) -> Spent:
        """Return the sum."""
        return Spent(*(one + another for one, another in zip(self, other, strict=True)))


@dataclass(frozen=True, slots=True)
class Server:
    """A running server."""

    port: int
    process: int

    def spent(self) -> Spent:
        """Return the processor time so far, of the server and the processes below it."""
        own = _own_s(self.process)
        fork_server_s = workers_s = 0.0
        for child in _children(self.process):
            inner = [each for each in _children(child) if _is_first_of_namespace(each)]
            if inner or _is_fork_server(child):
                parents = {child, *inner}
                fork_server_s += sum(map(_own_s, parents))
                workers_s += sum(_ended_s(each) for each in parents)
                workers_s += sum(
                    whole_s(each) for parent in parents for each in _children(parent) if each not in parents
                )
            else:
                workers_s += whole_s(child)
        return Spent(own, fork_server_s, workers_s)

    def below(self) -> tuple[Server, ...]:
        """Return the server processes that this one supervises."""
        return tuple(Server(self.port, child) for child in _children(self.process))


@contextmanager
def upstream() -> Iterator[str]:
    """Run the upstream service, and return its URL."""
    with _running([sys.executable, "-m", "benchmarks.path_parts.upstream"], {}) as started:
        yield f"http://127.0.0.1:{_announced(started)}"


@contextmanager
def peer(name: str, url: str) -> Iterator[Server]:
    """Run a peer on the upstream service at `url`. Raises RuntimeError if it does not start."""
    with _running([sys.executable, "-m", "benchmarks.path_parts.peers", name, url], {}) as started:
        yield Server(_announced(started, "^"), started[0].pid)


@contextmanager
def codemode(
    url: str, journal: str, *, counters: Path | None = None, folder: str = "", load: str = "", processes: int = 1
) -> Iterator[Server]:
    """Run `codemode serve`. `journal` is `sqlite`, `none`, or the URL of a PostgreSQL database.

    With `counters`, a signal makes the server write its stage counters to that file. Servers with the same `folder`
    share their journal. The server starts that many `processes`.
    """
    with tempfile.TemporaryDirectory() as own_folder:
        home = Path(folder or own_folder)
        Path(own_folder, "shop.json").write_text(json.dumps(document()), encoding="utf-8")
        Path(own_folder, "codemode.yaml").write_text(_configuration(url, journal, home, load), encoding="utf-8")
        command = [str(Path(sys.executable).parent / "codemode")]
        if counters is not None:
            command = [sys.executable, "-m", "benchmarks.path_parts.launcher", str(counters)]
        secrets = {"SHOP_TOKEN": KEY, "JOURNAL_KEY": "00" * 32, "JOURNAL_URL": journal}
        environment = {**secrets, **{f"KEY_{key.upper()}": key for key in KEYS}}
        arguments = [*command, "serve", "--config", str(Path(own_folder, "codemode.yaml"))]
        arguments += ["--processes", str(processes)] if processes > 1 else []
        with _running(arguments, environment) as started:
            yield Server(_announced(started, "http://127.0.0.1:", processes), started[0].pid)


def _configuration(url: str, journal: str, home: Path, load: str) -> str:
    kept = {"sqlite": "{}", "none": "{enabled: false}"}.get(
        journal, "{url: {env: JOURNAL_URL}, key: {env: JOURNAL_KEY}}"
    )
    keys = ", ".join(f"{{env: KEY_{key.upper()}}}" for key in KEYS)
    credentials = "[{kind: bearer, token: {env: SHOP_TOKEN}}]"
    lines = (
        "name: path",
        f"sources: {{shop: {{location: shop.json, base_url: '{url}', credentials: {credentials}}}}}",
        f"server: {{port: 0, keys: [{keys}], load: {load or '{}'}}}",
        f"journal: {kept}",
        f"state_folder: {home}/state",
        f"cache_folder: {home}/cache",
    )
    return "\n".join(lines)


@contextmanager
def _running(command: list[str], environment: dict[str, str]) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """Run a command. Yield its process, and the file that it writes to."""
    with tempfile.NamedTemporaryFile("w") as written:
        environment = {"PATH": _PATH, "HOME": tempfile.gettempdir(), **environment}
        process = subprocess.Popen(command, stdout=written, stderr=written, text=True, env=environment)
        try:
            yield process, Path(written.name)
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(timeout=_START_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _announced(started: tuple[subprocess.Popen[str], Path], before: str = "", times: int = 1) -> int:
    """Return the port that a process prints, after the text `before`, once it has printed it that many times.

    Raises RuntimeError with its output.
    """
    process, written = started
    deadline = time.monotonic() + _START_S
    while time.monotonic() < deadline:
        has_ended = process.poll() is not None
        text = written.read_text(encoding="utf-8")
        found = re.findall(rf"{before}(\d+)\s", text)
        if len(found) >= times:
            return int(found[0])
        if has_ended:
            break
        time.sleep(0.05)
    message = f"{' '.join(map(str, process.args[-3:]))} did not start: {text.strip()[-500:]}"  # type: ignore[index]
    raise RuntimeError(message)


def _children(process: int) -> list[int]:
    try:
        text = Path(f"/proc/{process}/task/{process}/children").read_text(encoding="ascii")
    except OSError:
        return []  # the process has ended
    return [*map(int, text.split())]


def _is_first_of_namespace(process: int) -> bool:
    try:
        status = Path(f"/proc/{process}/status").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return next((line for line in status.splitlines() if line.startswith("NSpid:")), "").endswith("\t1")


def _is_fork_server(process: int) -> bool:
    try:
        return b"fork_server" in Path(f"/proc/{process}/cmdline").read_bytes()
    except OSError:
        return False


def _own_s(process: int) -> float:
    """Return the processor time of all threads of a process, to the nanosecond, or 0 if it has ended."""
    try:
        return time.clock_gettime(~process << 3 | _SCHEDULED_TIME)
    except OSError:
        return 0.0


def _ended_s(process: int) -> float:
    """Return the processor time of the ended children of a process, in steps of a clock tick: proc_pid_stat(5)."""
    try:
        text = Path(f"/proc/{process}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return 0.0
    return sum(map(int, text.rpartition(")")[2].split()[13:15])) / os.sysconf("SC_CLK_TCK")


def whole_s(process: int) -> float:
    """Return the processor time of a process, of all below it, and of their ended children, in seconds."""
    return _own_s(process) + _ended_s(process) + sum(map(whole_s, _children(process)))
