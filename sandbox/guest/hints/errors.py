"""Hints for errors at run time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection

    from sandbox.guest.hints.place import Place


def hint_for(error: BaseException, message: str, place: Place | None, variables: dict[str, Any], names: Collection[str]) -> str:
    """Return what to do about an error, or nothing."""
    return ""
