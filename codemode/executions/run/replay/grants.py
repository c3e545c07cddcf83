"""Grants: decisions that approve further calls of one tool in one execution, up to a number.

A grant is part of the decision on a pending call. A later call uses it under its own digest: its `started` entry names
the grant in `approval`. So the record shows which call each use of a grant was for, and a replay counts the same uses.
"""

from __future__ import annotations

import time
from collections import Counter
from typing import TYPE_CHECKING

from codemode.executions.run.replay.questions import first_id

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from codemode.executions.run.replay.questions import Questions
    from codemode.executions.types.record import RecordedCall
    from codemode.executions.types.records import PendingCall
    from codemode.gateway.call import JudgedCall


class Grants:
    """The grants of one execution. `answered` maps the ids of decided calls, `calls` are the recorded ones."""

    def __init__(self, answered: Mapping[str, PendingCall], calls: Iterable[RecordedCall]) -> None:
        self._grants = [call for call in answered.values() if call.up_to > 1 and call.verdict == "approved"]
        self._used = Counter(call.grant for call in answered.values() if call.grant)
        own = {grant.id: grant.path for grant in self._grants}
        self._used.update(call.approval for call in calls if own.get(call.approval, call.path) != call.path)

    def take(self, judged: JudgedCall, questions: Questions) -> PendingCall | None:
        """Use a grant for a pending call and return it, or None if there is none left."""
        now_us = time.time_ns() // 1000
        if judged.ruling is not None and judged.ruling.alone:
            return None
        for grant in self._grants:
            is_left = self._used[grant.id] < grant.up_to - 1 and not grant.is_outdated(now_us)
            if is_left and _holds(grant, judged, questions):
                self._used[grant.id] += 1
                return grant
        return None


def _holds(grant: PendingCall, judged: JudgedCall, questions: Questions) -> bool:
    """Return whether a grant is for this tool. Its id changes with the tool's definition, location and account."""
    tool = judged.tool
    if tool is None or tool.id != grant.tool:
        return False
    return questions.id_of(judged, grant.path, grant.digest, grant.kind) == first_id(grant.id)
