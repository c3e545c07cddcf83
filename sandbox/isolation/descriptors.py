"""The descriptors of a process: of the host's, only one socket stays open."""

from __future__ import annotations

import os

from sandbox.isolation.kernel import close_from

#: The socket to the host. The fork server and each worker have one of their own.
CHANNEL = 3


def keep_only(channel: int) -> None:
    """Move the channel to descriptor 3 and close every descriptor above. Raises OSError."""
    if channel != CHANNEL:
        os.dup2(channel, CHANNEL, inheritable=True)
    close_from(CHANNEL + 1)


def silence() -> None:
    """Redirect standard input, output and error to /dev/null. Raises OSError."""
    null = os.open("/dev/null", os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(null, standard)
    if null > 2:
        os.close(null)
