"""Questions to people about calls: their ids, and what the catalog says about them when they are asked."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from codemode.catalog.saved import program_of
from codemode.executions.run.replay.dependencies import account_mark, meaning
from codemode.executions.types.records import PendingCall
from codemode.text.prose import plain, shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from codemode.executions.types.records import QuestionKind
    from codemode.gateway.call import JudgedCall
    from codemode.gateway.gateway import Gateway

#: Hexadecimal digits of the keyed digest in an id.
DIGITS = 24

#: Characters of a tool's description in a question.
_SUMMARY_CHARACTERS = 400

_UNKNOWN = "it was sent, and no answer was recorded: check whether it took effect"


def first_id(id_: str) -> str:
    """Return the id under which a question was asked first. Only one that is asked again has another."""
    return "_".join(id_.split("_")[:2])


class Questions:
    """Makes the questions of one execution. `digest` is the journal's keyed digest, `gap` what the record may lack."""

    def __init__(self, execution: str, gateway: Gateway, digest: Callable[[Any], str], gap: str = "") -> None:
        self._gap = gap
        self._execution = execution
        self._gateway = gateway
        self._digest = digest

    def id_of(self, judged: JudgedCall, path: str, digest: str, kind: QuestionKind, attempt: int = 0) -> str:
        """Return the id of a question about a call, or about another one like it at `path`.

        It stands for one call, one account, and the tool's present definition and location.

        A question that is asked again, because the decision was outdated when the call was to be sent, has the same id
        with a number: `ap_…_1`.
        """
        mark = account_mark(judged, self._digest)
        means = meaning(judged.tool, self._gateway, self._digest, mark)
        return f"ap_{self._digest([self._execution, path, digest, kind, attempt, means])[:DIGITS]}"

    def ask(
        self,
        judged: JudgedCall,
        identity: tuple[str, str],
        arguments: Mapping[str, Any],
        kind: QuestionKind,
        attempt: int,
    ) -> PendingCall:
        """Return the question about a call: `identity` is its tool and digest, `arguments` lack secrets."""
        tool, path = judged.tool, judged.call.path
        name, digest = identity
        program = judged.call.within or program_of(tool)
        reason = judged.ruling.reason or judged.ruling.rule if judged.ruling else ""
        return PendingCall(
            id=self.id_of(judged, path, digest, kind, attempt),
            execution=self._execution,
            path=path,
            tool=name,
            arguments=arguments,
            digest=digest,
            reason="; ".join(filter(None, (reason if kind == "approval" else _UNKNOWN, self._gap))),
            kind=kind,
            asked_us=time.time_ns() // 1000,
            host=self._gateway.destination(tool).host if tool is not None else "",
            summary=shorten(plain(tool.description or tool.summary), _SUMMARY_CHARACTERS) if tool is not None else "",
            effect=tool.effect if tool is not None else "",
            operation=tool.key if tool is not None else "",
            within="" if program is None else program.author,
            account=judged.account.shown if judged.account is not None else "",
        )
