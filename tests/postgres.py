"""A PostgreSQL of our own: made, started and removed by who needs one, as an ordinary user, on a socket in a folder.

It can also listen on the addresses of a network of our own.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Who runs it where we are root, which PostgreSQL refuses to be: `nobody` of every Linux.
NOBODY = 65534

#: Where a cluster is made: a socket's path has 107 characters at most.
FOLDER = "/tmp"  # noqa: S108


def programs() -> Path | None:
    """The folder of `initdb` and `pg_ctl`: the newest of the distribution's, else what is on the path."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda one: float(one.parent.name))
    named = shutil.which("pg_ctl")
    return folders[-1] if folders else Path(named).resolve().parent if named else None


class Cluster:
    """A cluster in `home`, with a superuser `postgres`, on a socket there; `url` names its first database."""

    def __init__(self, home: Path, folder: Path, *, fsync: bool, address: str, network: str) -> None:
        self.home = home
        self.url = f"postgresql://postgres@/postgres?host={home}"
        self._folder = folder
        self._network = network
        self._as_user: list[str] = []
        if os.geteuid() == 0:
            os.chown(home, NOBODY, NOBODY)
            self._as_user = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
        options = f"-k {home} -c listen_addresses={address} -c shared_buffers=32MB -c fsync={'on' if fsync else 'off'}"
        self._start = ["-l", str(home / "log"), "-o", options, "start"]

    def make(self) -> None:
        """Make its files."""
        self._run("initdb", "-D", self._data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync", "--locale=C")
        if self._network:
            with (self.home / "data" / "pg_hba.conf").open("a") as rules:
                rules.write(f"host all all {self._network} trust\n")

    def start(self) -> None:
        """Start it, and wait until it answers."""
        self._control(*self._start)

    def stop(self, mode: str = "immediate") -> None:
        """Stop it; `immediate` as if its processes had died."""
        self._control("-m", mode, "stop")

    @property
    def _data(self) -> str:
        return str(self.home / "data")

    def _control(self, *arguments: str) -> None:
        self._run("pg_ctl", "-D", self._data, "-w", "-t", "60", *arguments)

    def _run(self, program: str, *arguments: str) -> None:
        _checked([*self._as_user, str(self._folder / program), *arguments], self.home)


@contextmanager
def restartable_cluster(
    *, fsync: bool = False, folder: str = FOLDER, address: str = "", network: str = ""
) -> Iterator[Cluster]:
    """A cluster that runs, and may be stopped and started. Without an address it listens on no port.

    All hosts of the `network` that it listens on are trusted.

    Without `fsync` it is not for data that a machine's crash may not take.
    """
    installed = programs()
    if installed is None:
        raise FileNotFoundError("initdb and pg_ctl are not here: install the distribution's package postgresql")
    home = Path(tempfile.mkdtemp(prefix="pg", dir=folder))
    try:
        made = Cluster(home, installed, fsync=fsync, address=address, network=network)
        made.make()
        made.start()
        try:
            yield made
        finally:
            if (home / "data" / "postmaster.pid").exists():
                made.stop()
    finally:
        shutil.rmtree(home, ignore_errors=True)


@contextmanager
def cluster(*, fsync: bool = False) -> Iterator[str]:
    """The URL of a cluster that runs; see `restartable_cluster`."""
    with restartable_cluster(fsync=fsync) as made:
        yield made.url


def _checked(command: list[str], home: Path) -> None:
    with (home / "said").open("ab") as said:
        ended = subprocess.run(command, stdout=said, stderr=said, cwd="/", check=False)
    if ended.returncode:
        log = home / "log"
        message = (home / "said").read_text() + (log.read_text() if log.exists() else "")
        raise RuntimeError(message)
