"""A PostgreSQL of our own: made, started and removed by who needs one, as an ordinary user, on a socket in a folder."""

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


def programs() -> Path | None:
    """The folder of `initdb` and `pg_ctl`: the newest of the distribution's, else what is on the path."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda one: float(one.parent.name))
    named = shutil.which("pg_ctl")
    return folders[-1] if folders else Path(named).resolve().parent if named else None


@contextmanager
def cluster(*, fsync: bool = False) -> Iterator[str]:
    """A cluster with a superuser `postgres`; gives the URL of its first database. It listens on no port.

    Without `fsync` it is not for data that a machine's crash may not take.
    """
    folder = programs()
    if folder is None:
        raise FileNotFoundError("initdb and pg_ctl are not here: install the distribution's package postgresql")
    as_user: list[str] = []
    home = Path(tempfile.mkdtemp(prefix="pg", dir="/tmp"))  # a socket's path has 107 characters at most
    try:
        if os.geteuid() == 0:
            os.chown(home, NOBODY, NOBODY)
            as_user = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
        data = str(home / "data")
        run = [*as_user, str(folder / "initdb"), "-D", data, "-U", "postgres", "-A", "trust", "-E", "UTF8", "--no-sync"]
        _checked([*run, "--locale=C"], home)
        options = f"-k {home} -c listen_addresses= -c fsync={'on' if fsync else 'off'} -c shared_buffers=32MB"
        control = [*as_user, str(folder / "pg_ctl"), "-D", data, "-w", "-t", "60"]
        _checked([*control, "-l", str(home / "log"), "-o", options, "start"], home)
        try:
            yield f"postgresql://postgres@/postgres?host={home}"
        finally:
            _checked([*control, "-m", "immediate", "stop"], home)
    finally:
        shutil.rmtree(home, ignore_errors=True)


def _checked(command: list[str], home: Path) -> None:
    with (home / "said").open("ab") as said:
        ended = subprocess.run(command, stdout=said, stderr=said, cwd="/", check=False)
    if ended.returncode:
        log = home / "log"
        message = (home / "said").read_text() + (log.read_text() if log.exists() else "")
        raise RuntimeError(message)
