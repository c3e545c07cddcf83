"""Executions over HTTP: `/v1/execute`, `/v1/executions[/{id}[/events|cancel|resume|rollback]]`, `/v1/approvals[/{id}]`.

An execution belongs to the key that started it; to any other but an approver's it does not exist. Where executions are
recorded a request may be repeated under its `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header), and one that
takes longer than its `wait_s` is answered 202 with where to ask again.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
from contextlib import suppress
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from fastapi import Header, Query, Request
from fastapi.responses import JSONResponse, Response, StreamingResponse
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from codemode.errors import CallerNotLetIn, CodeModeError, RequestRepeated, TooSlow
from codemode.executions.journal.base import Decision, ExecutionStatus, Verdict
from codemode.executions.programs import Request as ExecutionRequest
from codemode.serving.executions import BEYOND_S, brief, gone_on, pending_json, whole
from codemode.serving.http.outgoing import DataResponse
from codemode.serving.http.problems import problem

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Mapping

    from fastapi import FastAPI

    from codemode.executions.events import ExecutionEvent
    from codemode.gateway.caller import Caller
    from codemode.service import CodeMode

T = TypeVar("T")

#: Seconds after which a stream of events that has nothing to tell says that it is still there.
KEEP_ALIVE_S = 15.0

#: The number of an event: beyond what a store counts with there is none.
Sequence = Annotated[int, Field(ge=0, lt=2**32)]

_STOPPING = "the server stops, and has cancelled this program: where executions are recorded, GET /v1/executions has it"

#: The longest that a request waits where nothing else bounds it.
_LONGEST_WAIT_S = 3600.0


def _data(value: Any) -> Any:
    """What JSON can carry: of what Python's reader gives not NaN, infinities, and halves of surrogate pairs."""
    try:
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError):
        raise ValueError("it is not JSON data") from None
    return value


#: An id or a digest of ours, or nothing that we know. With a limit its text is looked at, too.
Name = Annotated[str, Field(max_length=200)]


class ExecuteRequest(BaseModel):
    """A program in Python.

    `resume_from` is an earlier execution of the same key, whose committed calls are not made again; with `fresh_reads`
    its reads are. After `wait_s` seconds the answer is 202, and the program goes on.
    """

    model_config = ConfigDict(extra="forbid")

    code: str
    resume_from: Name = ""
    fresh_reads: bool = False
    wait_s: float | None = Field(default=None, ge=0, le=_LONGEST_WAIT_S)


class ResumeRequest(BaseModel):
    """Let an execution go on; credentials of the caller come again as headers."""

    model_config = ConfigDict(extra="forbid")

    wait_s: float | None = Field(default=None, ge=0, le=_LONGEST_WAIT_S)


class DecisionRequest(BaseModel):
    """What a person decides on a call: `digest` is that of the call as it was shown.

    For a call that waits for approval the verdict is approved or rejected; for one of which nobody knows what became
    of it committed (with its `value`), failed, or send_again.
    """

    model_config = ConfigDict(extra="forbid")

    digest: Name
    verdict: Verdict
    note: str = Field(default="", max_length=2_000)
    value: Annotated[Any, AfterValidator(_data)] = None


class ApprovalDecision(DecisionRequest):
    """One of several decisions."""

    id: Name


class DecisionsRequest(BaseModel):
    """Several decisions, all or none."""

    model_config = ConfigDict(extra="forbid")

    decisions: Annotated[list[ApprovalDecision], Field(min_length=1, max_length=100)]


def add_execution_routes(app: FastAPI, service: CodeMode, authenticated: Any) -> None:
    """The routes that run programs, and that look after what runs."""
    _add_execute(app, service, authenticated)
    _add_looking(app, service, authenticated)
    _add_going_on(app, service, authenticated)
    _add_approvals(app, service, authenticated)


def _add_execute(app: FastAPI, service: CodeMode, authenticated: Any) -> None:
    @app.post("/v1/execute", tags=["executions"], dependencies=[authenticated])
    async def execute(
        body: ExecuteRequest,
        request: Request,
        idempotency_key: Annotated[str | None, Header(min_length=1, max_length=255)] = None,
    ) -> Response:
        """Run a program. The outcome says how it ended, or what it waits for.

        Without `wait_s` and `Idempotency-Key` a client that hangs up ends it.
        """
        caller: Caller = request.state.caller
        given = _credentials(request, service)
        if body.wait_s is None and idempotency_key is None:
            work = service.execute(
                body.code,
                caller=caller,
                credentials=given,
                resume_from=body.resume_from,
                fresh_reads=body.fresh_reads,
                begun=request.state.turn.begun,
            )
            try:
                outcome = await until_disconnect(request, work)
            except asyncio.CancelledError:  # by the server, which stops
                return problem(503, "stopping", _STOPPING)
            return DataResponse(outcome.to_json() if outcome is not None else None)
        wanted = ExecutionRequest(
            body.code,
            given,
            body.resume_from,
            body.fresh_reads,
            key=idempotency_key or "",
            digest=_digest(body),
            begun=request.state.turn.begun,
        )
        try:
            execution = await service.executions.start(wanted, caller)
        except RequestRepeated as repeated:
            return await _answered(service, repeated.execution, caller, body.wait_s, {"Idempotent-Replayed": "true"})
        _keep_turn(request, service, execution, caller)
        return await _answered(service, execution, caller, body.wait_s)


def _add_looking(app: FastAPI, service: CodeMode, authenticated: Any) -> None:
    @app.get("/v1/executions", tags=["executions"], dependencies=[authenticated])
    async def list_executions(
        request: Request,
        status: ExecutionStatus | None = None,
        limit: Annotated[int, Query(ge=1, le=500)] = 50,
        before: str = "",
    ) -> dict[str, Any]:
        """The newest first; `before` is the id of the last one of the page before."""
        found = await service.executions.list(request.state.caller, status=status, limit=limit, before=before)
        return {"executions": [brief(stored) for stored in found]}

    @app.get("/v1/executions/{execution}", tags=["executions"], dependencies=[authenticated])
    async def get_execution(execution: str, request: Request) -> Response:
        """One execution: its program, its outcome once there is one, and what it waits for."""
        return DataResponse(await whole(service, execution, request.state.caller))

    @app.get("/v1/executions/{execution}/events", tags=["executions"], dependencies=[authenticated])
    async def events(
        execution: str,
        request: Request,
        after: Sequence = 0,
        last_event_id: Annotated[Sequence | None, Header()] = None,
    ) -> StreamingResponse:
        """What happens, as server-sent events, until it ends or pauses; who was cut off gives `Last-Event-ID`.

        Where the key is revoked or expires meanwhile, or the client reads too slowly, `closed` is the last event.
        """
        await service.executions.get(execution, request.state.caller)  # 404 before the stream begins
        begin = after if last_event_id is None else last_event_id
        told = service.executions.batches(execution, request.state.caller, begin)
        return StreamingResponse(
            _sent(told, request.state.caller), media_type="text/event-stream", headers={"Cache-Control": "no-store"}
        )


def _add_going_on(app: FastAPI, service: CodeMode, authenticated: Any) -> None:
    @app.post("/v1/executions/{execution}/cancel", tags=["executions"], dependencies=[authenticated])
    async def cancel(execution: str, request: Request) -> Response:
        """End an execution; its outcome tells what was done, what was not, and what is unknown."""
        await service.executions.cancel(execution, request.state.caller)
        return DataResponse(await whole(service, execution, request.state.caller))

    @app.post("/v1/executions/{execution}/resume", tags=["executions"], dependencies=[authenticated])
    async def resume(execution: str, request: Request, body: ResumeRequest | None = None) -> Response:
        """Let a paused execution go on: what it has done is not done again."""
        caller: Caller = request.state.caller
        await service.executions.resume(execution, caller, _credentials(request, service))
        _keep_turn(request, service, execution, caller)
        return await _answered(service, execution, caller, body.wait_s if body else None)

    @app.post("/v1/executions/{execution}/rollback", tags=["executions"], dependencies=[authenticated])
    async def rollback(execution: str, request: Request, body: ResumeRequest | None = None) -> Response:
        """Take back what was committed, the newest first, where a tool names what does that."""
        caller: Caller = request.state.caller
        found = await service.executions.rollback(execution, caller, _credentials(request, service))
        if not found.execution:
            return DataResponse({**asdict(found), "status": "nothing to take back"})
        _keep_turn(request, service, found.execution, caller)
        stored = await service.executions.wait(found.execution, caller, _wait_s(service, body.wait_s if body else None))
        return DataResponse({**asdict(found), "status": stored.status, "outcome": stored.outcome})


def _add_approvals(app: FastAPI, service: CodeMode, authenticated: Any) -> None:
    @app.get("/v1/approvals", tags=["approvals"], dependencies=[authenticated])
    async def list_approvals(request: Request, execution: str = "") -> dict[str, Any]:
        """Calls that wait for a person, the oldest first: all of them for an approver, else those of the key."""
        waiting = await service.executions.approvals(request.state.caller, execution)
        return {"approvals": [pending_json(call) for call in waiting]}

    @app.post("/v1/approvals", tags=["approvals"], dependencies=[authenticated])
    async def decide_several(body: DecisionsRequest, request: Request) -> dict[str, Any]:
        """Decide on several calls, all or none."""
        return await _decided(service, request, [_decision(one.id, one) for one in body.decisions])

    @app.post("/v1/approvals/{approval}", tags=["approvals"], dependencies=[authenticated])
    async def decide(approval: str, body: DecisionRequest, request: Request) -> dict[str, Any]:
        """Decide on one call. An execution that waits for nothing else goes on by itself."""
        return await _decided(service, request, [_decision(approval, body)])


async def _decided(service: CodeMode, request: Request, decisions: list[Decision]) -> dict[str, Any]:
    caller: Caller = request.state.caller
    answered = await service.executions.decide(decisions, caller)
    executions = {}
    for execution in dict.fromkeys(call.execution for call in answered):
        executions[execution] = await gone_on(service, execution, caller)
        if not executions[execution]["waits"]:
            _keep_turn(request, service, execution, caller)
    return {"approvals": [pending_json(call) for call in answered], "executions": executions}


def _decision(id_: str, body: DecisionRequest) -> Decision:
    return Decision(id_, body.digest, body.verdict, by="", note=body.note, value=body.value)


def _credentials(request: Request, service: CodeMode) -> dict[str, str]:
    """What the caller brings for services behind the tools."""
    return {name: request.headers[name] for name in service.caller_names if name in request.headers}


def _digest(body: ExecuteRequest) -> str:
    """What makes a repeated request the same one: all of it but how long the client waits."""
    text = json.dumps(body.model_dump(exclude={"wait_s"}), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _wait_s(service: CodeMode, wait_s: float | None) -> float:
    return service.settings.limits.wall_s + BEYOND_S if wait_s is None else wait_s


async def _answered(
    service: CodeMode,
    execution: str,
    caller: Caller,
    wait_s: float | None,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """The outcome, or where to ask for it again: also where this server stops, and another goes on with it."""
    try:
        stored = await service.executions.wait(execution, caller, _wait_s(service, wait_s))
    except asyncio.CancelledError:
        stored = None
    if stored is None or stored.status in ("queued", "running"):
        place = {"Location": f"/v1/executions/{execution}", "Retry-After": "1", **(headers or {})}
        return JSONResponse({"id": execution, "status": stored.status if stored else "running"}, 202, place)
    outcome = {"id": execution, **(stored.outcome or {}), "status": stored.status}
    return DataResponse(outcome, headers=headers)


def _keep_turn(request: Request, service: CodeMode, execution: str, caller: Caller) -> None:
    """An execution keeps the place of its request for as long as it runs."""
    turn = getattr(request.state, "turn", None)
    if turn is not None:
        turn.keep(asyncio.ensure_future(_over(service, execution, caller)))


async def _over(service: CodeMode, execution: str, caller: Caller) -> None:
    with suppress(CodeModeError):  # nobody is told of it
        await service.executions.wait(execution, caller, _LONGEST_WAIT_S)


async def _sent(told: AsyncGenerator[tuple[ExecutionEvent, ...]], caller: Caller) -> AsyncIterator[str]:
    """Events as text/event-stream (HTML Living Standard, 9.2); where there is nothing to tell for long, a comment."""
    coming = asyncio.ensure_future(anext(told, None))
    try:
        while True:
            await asyncio.wait((coming,), timeout=KEEP_ALIVE_S)
            if not caller.is_still_good():
                yield _closed(CallerNotLetIn())
                return
            if not coming.done():
                yield ": nothing new\n\n"
                continue
            batch = coming.result()
            if batch is None:
                return
            yield "".join(f"id: {event.sequence}\nevent: {event.type}\ndata: {event.text}\n\n" for event in batch)
            coming = asyncio.ensure_future(anext(told, None))
    except TooSlow as slow:
        yield _closed(slow)
    finally:
        coming.cancel()
        await asyncio.gather(coming, return_exceptions=True)
        await told.aclose()


def _closed(reason: CodeModeError) -> str:
    """The last event of a stream that ends before its execution does."""
    said = {"type": "closed", "code": reason.code, "message": str(reason)}
    return f"event: closed\ndata: {json.dumps(said)}\n\n"


async def until_disconnect(request: Request, work: Awaitable[T]) -> T | None:
    """The result of `work`, or None where the client hung up before: then the work is cancelled."""
    running = asyncio.ensure_future(work)
    gone = asyncio.ensure_future(_disconnected(request))
    try:
        await asyncio.wait({running, gone}, return_when=asyncio.FIRST_COMPLETED)
        return running.result() if running.done() else None
    finally:
        for task in (running, gone):
            task.cancel()
        await asyncio.gather(running, gone, return_exceptions=True)


async def _disconnected(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
