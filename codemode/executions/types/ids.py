"""Ids of executions and plans."""

from __future__ import annotations

import re
import uuid

_ID = re.compile(r"ex_[0-9a-f]{32}")
_PLAN_ID = re.compile(r"pl_[0-9a-f]{32}")


def new_execution() -> str:
    """Return a new, unique execution id."""
    return f"ex_{uuid.uuid4().hex}"


def may_be_execution(text: str) -> bool:
    """Return whether a text has the form of an execution id. Databases reject some characters of other texts."""
    return _ID.fullmatch(text) is not None


def new_plan() -> str:
    """Return a new, unique plan id."""
    return f"pl_{uuid.uuid4().hex}"


def may_be_plan(text: str) -> bool:
    """Return whether a text has the form of a plan id."""
    return _PLAN_ID.fullmatch(text) is not None
