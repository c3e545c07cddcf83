"""What a process holds open: nothing of the host's but one socket."""

from __future__ import annotations

import os

from sandbox.isolation.kernel import close_from

#: The one socket of a fork server (to the host) and of a worker (to the host, a different one).
CHANNEL = 3


def keep_only(channel: int) -> None:
    """Move the channel to its place, and close everything else but 0 to 2. Raises OSError."""
    if channel != CHANNEL:
        os.dup2(channel, CHANNEL, inheritable=True)
    close_from(CHANNEL + 1)


def silence() -> None:
    """Point standard input, output and error to /dev/null."""
    null = os.open("/dev/null", os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(null, standard)
    if null > 2:
        os.close(null)
