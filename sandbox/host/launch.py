"""Start the fork server by exec, with one socket and nothing else of the host."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from sandbox.errors import WorkerError

if TYPE_CHECKING:
    import socket

#: What the guest imports beyond the standard library.
_GUEST_PACKAGES = ("sandbox", "RestrictedPython", "greenlet", "orjson")

#: A fixed seed for hashes, so that sets have the same order in every run.
HASH_SEED = "0"

#: The whole environment: none of the host's variables.
_ENVIRONMENT = {"PYTHONHASHSEED": HASH_SEED}

_START = Path(__file__).parents[1] / "guest" / "start.py"


def start_process(
    channel: socket.socket, *, program: str, folders: tuple[str, ...] = (), main: str = "fork_server"
) -> subprocess.Popen[bytes]:
    """Start the fork server, or a worker without one (`main="unsandboxed_worker"`), with its end of a socket.

    `program` is the module that serves programs in the workers; it is also searched in `folders`. The interpreter runs
    as with `-I -S` (no user folder, no current folder, no `site`), except for the environment. Raises WorkerError.
    """
    flags = ["-P", "-s", "-S", "-X", "utf8"]
    command = [sys.executable, *flags, str(_START), main, str(channel.fileno()), program, *import_folders(), *folders]
    try:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env=_ENVIRONMENT,
            cwd="/",
            pass_fds=(channel.fileno(),),
            start_new_session=True,
        )
    except OSError as error:
        message = f"the {main.replace('_', ' ')} could not be started with {sys.executable}: {error}"
        raise WorkerError(message) from error


def import_folders() -> list[str]:
    """Return the folders of this package and of the packages that the guest imports. Raises WorkerError."""
    found: dict[str, None] = {}
    for name in _GUEST_PACKAGES:
        spec = find_spec(name)
        if spec is None or spec.origin is None:
            message = f"{name} is not installed, but the guest imports it"
            raise WorkerError(message)
        found[str(Path(spec.origin).resolve().parents[1])] = None
    return list(found)
