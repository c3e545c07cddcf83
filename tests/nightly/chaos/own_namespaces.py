"""Runs a program in namespaces of its own: processes, network and mounts end with it, however it ends.

The kernel removes them: `unshare --kill-child` kills the first process of the PID namespace, all others die with that,
and the network and mount namespaces with the last of them. `setpriv --pdeathsig` covers a parent that is killed.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

#: In the namespaces, an empty file system in memory: what is written there is gone at the end.
HOME = Path("/run/chaos")

#: Programs, and Debian's package of each.
NEEDED = {"haproxy": "haproxy", "faketime": "faketime", "ip": "iproute2", "ss": "iproute2", "unshare": "util-linux"}

#: The first argument of a program that is in its namespaces.
INSIDE = "--inside-namespaces"


def missing() -> str:
    """Return what is missing here, and what to do about it; "" if nothing is."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return "namespaces need Linux and root: run it as root, for example in a virtual machine"
    packages = sorted({package for program, package in NEEDED.items() if shutil.which(program) is None})
    packages += [] if shutil.which("pg_ctl") or any(Path("/usr/lib/postgresql").glob("*/bin")) else ["postgresql"]
    if packages:
        return f"missing: apt-get install --no-install-recommends {' '.join(packages)}"
    tried = subprocess.run([*_unshare(), "true"], capture_output=True, text=True, check=False)
    return f"namespaces cannot be made here: {tried.stderr.strip()}" if tried.returncode else ""


def enter(arguments: Sequence[str]) -> list[str]:
    """Return the arguments, in namespaces of our own. Outside of them, run this program there, and exit as it did."""
    if arguments[:1] == [INSIDE]:
        _outlive_one_child()
        subprocess.run(["mount", "-t", "tmpfs", "chaos", "/run"], check=True)
        HOME.mkdir(mode=0o755)
        return list(arguments[1:])
    command = ["setpriv", "--pdeathsig", "KILL", *_unshare(), sys.executable, sys.argv[0], INSIDE, *arguments]
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with subprocess.Popen(command, start_new_session=True) as inside:
        while True:
            try:
                sys.exit(inside.wait())
            except KeyboardInterrupt:  # it reports before it ends
                os.killpg(inside.pid, signal.SIGINT)


def _unshare() -> list[str]:
    return ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]


def _outlive_one_child() -> None:
    """Go on in a child; this process, the first of its namespace, reaps what others leave until that child ends."""
    child = os.fork()
    if not child:
        return
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    while True:
        ended, status = os.wait()
        if ended == child:
            os._exit(os.waitstatus_to_exitcode(status) % 256)
