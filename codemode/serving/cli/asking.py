"""Approvals in place: the person at the terminal decides on the calls of a program that has paused.

Whoever may use the local configuration and its state folder is the operator, as for `codemode approvals`. The operator
decides as `operator`, in the first role of `policy.approvers`; the program runs as `local`, in the role of `--role`.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from codemode.executions.types.records import Decision
from codemode.features.cards.desk import Cards
from codemode.gateway.policy import Globs
from codemode.serving.cli.project_options import operator_of
from codemode.serving.cli.typed import discard_typed, typed_line
from codemode.serving.output import terminal as show
from codemode.serving.output.card_text import WHOLE, card_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codemode.executions.types.card import ApprovalCard
    from codemode.executions.types.outcome import ExecutionOutcome
    from codemode.gateway.caller import Caller
    from codemode.service import CodeMode

#: Calls that "all of this tool" approves, unless another number is typed.
_ALL = 100
_MOST = 1_000

_CHOICES = f"[y]es, [n]o [why], [a]ll of this tool [up to {_ALL}], [d]etails, [q]uit: "


class Approver:
    """Decides on the calls of paused executions: by the patterns `yes_to`, else by asking if `asks`."""

    def __init__(self, service: CodeMode, caller: Caller, yes_to: Sequence[str] = (), *, asks: bool) -> None:
        self._service = service
        self._caller = caller
        self._patterns = tuple(yes_to)
        self._asks = asks

    async def settle(self, outcome: ExecutionOutcome) -> ExecutionOutcome:
        """Decide on what an execution waits for and continue it, until it ends or a call is left undecided."""
        while outcome.status == "paused" and await self._decide(outcome.id):
            outcome = await self._service.execute("", resume_from=outcome.id, caller=self._caller)
        return outcome

    async def _decide(self, execution: str) -> bool:
        """Decide on all waiting calls. Return whether something was decided, and nothing waits any more."""
        operator = operator_of(self._service)
        has_decided = False
        while waiting := await self._service.executions.approvals(operator, execution):
            call = waiting[0]
            if call.kind != "approval":
                return False
            card = await self._service.part(Cards).show(call.id, operator)
            decision = self._by_pattern(card) or await self._answer(card)
            if decision is None:
                return False
            await self._service.executions.decide([decision], operator)
            has_decided = True
        return has_decided

    def _by_pattern(self, card: ApprovalCard) -> Decision | None:
        pattern = next((one for one in self._patterns if Globs((one,)).fit(card.call.tool)), None)
        if pattern is None:
            return None
        return Decision(card.call.id, card.call.digest, "approved", "", f"--yes-to {pattern}", via="command line")

    async def _answer(self, card: ApprovalCard) -> Decision | None:
        """Show a card and ask. Return None if the call is to be left pending."""
        if not self._asks:
            return None
        call = card.call
        discard_typed()
        show.errors.print(show.plain(card_text(card, with_answers=False, most=WHOLE), style="yellow"), soft_wrap=True)
        while True:
            show.errors.print(_CHOICES, end="", style="bold", markup=False, soft_wrap=True)
            word, _, rest = (await typed_line()).strip().partition(" ")
            match word.lower():
                case "y" | "yes":
                    return Decision(call.id, call.digest, "approved", by="", via="terminal")
                case "n" | "no":
                    return Decision(call.id, call.digest, "rejected", by="", note=rest.strip(), via="terminal")
                case "a" | "all" if (up_to := _number(rest)) is not None:
                    return Decision(call.id, call.digest, "approved", by="", via="terminal", up_to=up_to)
                case "d" | "details":
                    stored = await self._service.executions.get(call.execution, operator_of(self._service))
                    show.errors.print(show.program(stored.request.code))
                case "q" | "quit" | "":
                    return None


def approver_here(
    service: CodeMode, caller: Caller, yes_to: Sequence[str] | None, *, no_input: bool, as_json: bool
) -> Approver:
    """Return the approver of a command with the options --yes-to and --no-input. It asks at a terminal only."""
    asks = not (no_input or as_json) and sys.stdin.isatty() and show.errors.is_terminal
    return Approver(service, caller, yes_to or (), asks=asks)


def _number(text: str) -> int | None:
    """Return the number typed after "all", the default without one, or None if it is not from 1 to 1,000."""
    text = text.strip()
    if not text:
        return _ALL
    return int(text) if text.isascii() and text.isdigit() and 1 <= int(text) <= _MOST else None
