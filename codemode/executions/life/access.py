"""What the executions of one journal give to the features that work on them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from codemode.executions.journal.base import Journal
    from codemode.executions.life.approvals import Approvals
    from codemode.executions.life.programs import Programs
    from codemode.executions.life.visible import VisibleExecutions


@dataclass(frozen=True, slots=True)
class Access:
    """A journal, what runs its programs, who may decide, and which executions a caller sees.

    `visible.opened` opens the journal on first use.
    """

    journal: Journal
    programs: Programs
    approvals: Approvals
    visible: VisibleExecutions
