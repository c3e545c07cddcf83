"""The inbox: calls that wait for a person, and calls of which nobody knows what became of them."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from starlette.datastructures import ImmutableMultiDict
from starlette.exceptions import HTTPException
from starlette.routing import Route

from codemode.errors import ApprovalRefused, CodeModeError
from codemode.executions.types.records import CONVERSATION, OF_OWNER, PAGE, VERDICTS, Decision
from codemode.executions.types.remembered import LIFE_S
from codemode.features.cards.desk import Cards
from codemode.serving.console.brief_calls import brief_call, call_groups, filled_operation, twins_among
from codemode.serving.console.forms import form_of
from codemode.serving.console.program_lines import program_lines, waiting_program
from codemode.serving.console.session import caller_of
from codemode.serving.console.waiting import waiting_calls
from codemode.serving.executions import continue_after_decision
from codemode.serving.web.program_requests import keep_turn
from codemode.text.counted import counted
from codemode.text.program_title import program_title
from codemode.text.visible import marked_data

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from codemode.executions.types.card import ApprovalCard
    from codemode.executions.types.records import PendingCall, QuestionKind
    from codemode.gateway.caller import Caller
    from codemode.serving.console.program_lines import WaitingProgram
    from codemode.serving.console.views import Console


class Inbox(NamedTuple):
    """A list of one kind of questions."""

    name: str
    title: str
    kinds: tuple[QuestionKind, ...]


#: Calls to decide on come with the questions of services, which their callers answer too.
INBOXES = (
    Inbox("approvals", "Approvals", ("approval", *OF_OWNER)),
    Inbox("unknown", "Unknown calls", ("unknown",)),
)


def routes(console: Console) -> list[Route]:
    """Return the routes below `/approvals`, and `/unknown`."""
    return [
        *(Route(f"/{inbox.name}", _Listing(console, inbox).show) for inbox in INBOXES),
        Route("/approvals", _Deciding(console).several, methods=["POST"]),
        Route("/approvals/{id}", _Card(console).show),
        Route("/approvals/{id}", _Deciding(console).one, methods=["POST"]),
    ]


class _Listing:
    def __init__(self, console: Console, inbox: Inbox) -> None:
        self._console = console
        self._inbox = inbox

    async def show(self, request: Request) -> Response:
        """Show the calls that wait, oldest first."""
        caller = caller_of(request)
        after = request.query_params.get("after", "")
        shown = await self._console.service.part(Cards).waiting(caller, after=after, kinds=self._inbox.kinds)
        groups = call_groups(shown)
        return self._console.page(
            request,
            "approvals/list.html",
            title=self._inbox.title,
            data={"approvals": [card.brief() for card in shown]},
            inbox=self._inbox,
            groups=groups,
            programs=await self._programs({group.cards[0].call.execution for group in groups}, caller),
            operations={card.call.id: filled_operation(card.call.operation, card.call.arguments) for card in shown},
            decides=self._console.service.executions.sees_all(caller),
            caller_id=caller.id,
            twins=twins_among((card.requester.id, card.call) for card in shown),
            briefs={card.call.id: brief_call(card.call) for card in shown},
            next_after=shown[-1].call.id if len(shown) == PAGE else "",
        )

    async def _programs(self, executions: set[str], caller: Caller) -> dict[str, WaitingProgram]:
        """Return the programs of executions that can be read."""
        programs = {}
        for execution in executions:
            with suppress(CodeModeError):
                programs[execution] = waiting_program(await self._console.service.executions.get(execution, caller))
        return programs


class _Card:
    def __init__(self, console: Console) -> None:
        self._console = console

    async def show(self, request: Request, mistake: str = "") -> Response:
        """Show one call with all that is known of it."""
        caller = caller_of(request)
        card = await self._console.service.part(Cards).show(request.path_params["id"], caller)
        stored = await self._console.service.executions.get(card.call.execution, caller)
        waiting = await self._console.service.executions.waits_for(card.call.execution, caller)
        return self._console.page(
            request,
            "approvals/card.html",
            title=f"Decide on {card.call.id}" if card.call.verdict is None else f"Decision on {card.call.id}",
            data={"card": card.to_json()},
            shown=marked_data(card.to_json()),
            status=409 if mistake else 200,
            mistake=mistake,
            why_not=self._why_not(card, caller),
            verdicts=VERDICTS[card.call.kind],
            operation=filled_operation(card.call.operation, card.call.arguments),
            lines=program_lines(stored),
            program_name=program_title(stored.request.code) or card.call.execution,
            others=sum(one != card.call.id for one in waiting) if card.call.verdict is None else 0,
            remembers=self._console.service.settings.approvals.remember,
            has_conversation=bool(stored.request.settings.get(CONVERSATION)),
        )

    def _why_not(self, card: ApprovalCard, caller: Caller) -> str:
        """Return why the caller cannot decide, "" if they can."""
        if card.requester.id == caller.id and card.call.kind in OF_OWNER:
            return ""
        if card.requester.id == caller.id:
            return "Your own key started this program, so somebody else must decide."
        if not self._console.service.executions.sees_all(caller):
            return f"Your role, {caller.role}, decides on no calls."
        return ""


class _Deciding:
    def __init__(self, console: Console) -> None:
        self._console = console

    async def one(self, request: Request) -> Response:
        """Decide on one call, which the form names by the digest that the person saw."""
        form = await form_of(request)
        decision = _decision(request.path_params["id"], form.get("digest", ""), form)
        try:
            decided = await self._decide(request, [decision])
        except ApprovalRefused as refused:
            return await _Card(self._console).show(request, mistake=str(refused))
        return self._back(request, *decided)

    async def several(self, request: Request) -> Response:
        """Decide on the chosen calls, all or none, or on the one call whose button was pressed."""
        form = await form_of(request)
        verdict, _, call = form.get("decide", "").partition(" ")
        chosen = [text.partition(" ") for text in ([call] if verdict else form.getlist("call"))]  # an id and a digest
        if not chosen:
            raise HTTPException(422, "choose at least one call")
        for id_, _, _ in chosen:
            await self._require_whole(id_, caller_of(request))
        fields = form if not verdict else ImmutableMultiDict({"verdict": verdict, "note": form.get("note", "")})
        decided = await self._decide(request, [_decision(id_, digest, fields) for id_, _, digest in chosen])
        if verdict and await waiting_calls(self._console.service, caller_of(request)):
            return self._console.redirect(request, "approvals", message=_told(*decided))
        return self._back(request, *decided)

    async def _require_whole(self, id_: str, caller: Caller) -> None:
        """Raise HTTPException if the list does not show the whole of a call."""
        call = await self._console.service.part(Cards).call(id_, caller)
        if not brief_call(call).is_whole:
            raise HTTPException(422, f"{id_}: the list does not show the whole call; open it to decide")

    async def _decide(self, request: Request, decisions: list[Decision]) -> tuple[tuple[PendingCall, ...], list[str]]:
        """Decide, and continue the executions. Return the decided calls, and why some executions do not continue."""
        service, caller = self._console.service, caller_of(request)
        decided = await service.executions.decide(decisions, caller)
        reasons = []
        for execution in dict.fromkeys(call.execution for call in decided):
            reason = (await continue_after_decision(service, execution, caller))["reason"]
            if reason:
                reasons.append(reason)
            else:
                keep_turn(request, service, execution, caller)
        return decided, reasons

    def _back(self, request: Request, decided: tuple[PendingCall, ...], reasons: list[str]) -> Response:
        return self._console.redirect(request, "executions", decided[0].execution, message=_told(decided, reasons))


def _told(decided: tuple[PendingCall, ...], reasons: list[str]) -> str:
    """Return what a person has decided, and why executions do not continue."""
    verdict = (decided[0].verdict or "").replace("_", " ")
    return ". ".join((f"{counted(len(decided), 'call')}: {verdict}", *reasons))


def _decision(id_: str, digest: str, form: ImmutableMultiDict[str, str]) -> Decision:
    """Return the decision of a form. Raises HTTPException with status 422."""
    verdict: Any = form.get("verdict", "")
    if verdict not in {one for kind in VERDICTS.values() for one in kind}:
        raise HTTPException(422, "verdict: choose one of the buttons")
    up_to, text = form.get("up_to", ""), form.get("value", "").strip()
    if up_to and (not up_to.isdecimal() or not 1 <= int(up_to[:9]) <= 10_000):
        raise HTTPException(422, "up_to: write a number of calls, from 1 to 10000")
    try:
        value = json.loads(text) if text and verdict in ("committed", "answered") else None
    except ValueError as error:
        detail = f"value: the answer of the call is not JSON: {error}"
        raise HTTPException(422, detail) from None
    granted = int(up_to) if up_to and verdict == "approved" else 0
    scope: Any = form.get("remember", "") if verdict == "approved" else ""
    if scope not in ("", *LIFE_S):
        raise HTTPException(422, "remember: choose one of the list")
    given: Any = {"note": form.get("note", ""), "value": value, "up_to": granted, "remember": scope}
    return Decision(id_, digest, verdict, by="", via="console", **given)
