"""Ids of executions."""

from __future__ import annotations

import re
import uuid

_ID = re.compile(r"ex_[0-9a-f]{32}")


def new_execution() -> str:
    """Return a new, unique execution id."""
    return f"ex_{uuid.uuid4().hex}"


def may_be_execution(text: str) -> bool:
    """Return whether a text has the form of an execution id. Databases reject some characters of other texts."""
    return _ID.fullmatch(text) is not None
