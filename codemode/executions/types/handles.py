"""Handles of results. A handle names the execution that returned the result."""

from __future__ import annotations

_HANDLE, _EXECUTION = "h_", "ex_"


def handle_of(execution: str) -> str:
    """Return the handle of an execution's result."""
    return _HANDLE + execution.removeprefix(_EXECUTION)


def is_handle(text: str) -> bool:
    """Return whether a text has the form of a handle."""
    return text.startswith(_HANDLE)


def execution_of(handle: str) -> str:
    """Return the id of the execution whose result has this handle."""
    return _EXECUTION + handle.removeprefix(_HANDLE)
