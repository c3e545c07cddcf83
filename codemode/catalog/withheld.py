"""Tools that cannot be called."""

from __future__ import annotations

from enum import Enum


class Withheld(Enum):
    """Why the tool of a name cannot be called."""

    GONE = "excluded, or no longer listed"
    WAITING = "it waits until the operator accepts it"
