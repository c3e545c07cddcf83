"""Executions over HTTP: `/v1/execute`, `/v1/executions[/{id}[/events|cancel|resume|rollback]]`, `/v1/approvals[/{id}]`.

An execution belongs to the key that started it. Other keys get 404, except those of approvers. With a journal, a
request may be repeated under its `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header), and a request that
takes longer than `wait_s` is answered with 202 and a Location.
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

#: Seconds without an event after which a stream sends a keep-alive comment.
KEEP_ALIVE_S = 15.0

#: An event number: journals count below 2**32.
Sequence = Annotated[int, Field(ge=0, lt=2**32)]

_STOPPING = "the server is stopping and has cancelled this program; with a journal, see GET /v1/executions"

#: Longest `wait_s` in seconds.
_LONGEST_WAIT_S = 3600.0


def _data(value: Any) -> Any:
    """Reject values that Python's JSON parser accepts but JSON cannot carry: NaN, infinities, lone surrogates."""
    try:
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (ValueError, RecursionError):
        raise ValueError("it is not JSON data") from None
    return value


#: An id or digest of ours. The length limit also makes pydantic reject texts that are not valid Unicode.
Name = Annotated[str, Field(max_length=200)]


class ExecuteRequest(BaseModel):
    """A program in Python.

    `resume_from` is an earlier execution of the same key: its committed calls are not repeated. Its reads are repeated
    with `fresh_reads` only. After `wait_s` seconds the answer is 202, and the program continues.

    A `dry_run` lists writes in `planned` instead of making them. It is not recorded, so it takes neither `wait_s` nor
    `resume_from`, and ignores an `Idempotency-Key`.
    """

    model_config = ConfigDict(extra="forbid")

    code: str
    resume_from: Name = ""
    fresh_reads: bool = False
    dry_run: bool = False
    wait_s: float | None = Field(default=None, ge=0, le=_LONGEST_WAIT_S)


class ResumeRequest(BaseModel):
    """Continue an execution. Send the caller's credentials again as headers."""

    model_config = ConfigDict(extra="forbid")

    wait_s: float | None = Field(default=None, ge=0, le=_LONGEST_WAIT_S)


class DecisionRequest(BaseModel):
    """A person's decision on a call. `digest` is the digest of the call as it was shown.

    The verdict on a call that waits for approval is approved or rejected. The verdict on a call with an unknown result
    is committed (with its `value`), failed, or send_again.
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
    """Add the routes that run, inspect and continue executions, and decide on calls."""
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
        """Run a program. The outcome reports how it ended, or what it waits for.

        Without `wait_s` and `Idempotency-Key`, closing the connection cancels the program.
        """
        caller: Caller = request.state.caller
        given = _credentials(request, service)
        if body.dry_run and (body.resume_from or body.wait_s is not None):
            return problem(422, "request_invalid", "a dry run is not recorded: leave out resume_from and wait_s")
        if body.dry_run or (body.wait_s is None and idempotency_key is None):
            work = service.execute(
                body.code,
                caller=caller,
                credentials=given,
                resume_from=body.resume_from,
                fresh_reads=body.fresh_reads,
                dry_run=body.dry_run,
                begun=request.state.turn.begun,
            )
            try:
                outcome = await until_disconnect(request, work)
            except asyncio.CancelledError:  # the server is stopping
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
        """List executions, newest first. `before` is the last id of the previous page."""
        found = await service.executions.list(request.state.caller, status=status, limit=limit, before=before)
        return {"executions": [brief(stored) for stored in found]}

    @app.get("/v1/executions/{execution}", tags=["executions"], dependencies=[authenticated])
    async def get_execution(execution: str, request: Request) -> Response:
        """Return one execution: its program, its outcome once there is one, and its pending calls."""
        return DataResponse(await whole(service, execution, request.state.caller))

    @app.get("/v1/executions/{execution}/events", tags=["executions"], dependencies=[authenticated])
    async def events(
        execution: str,
        request: Request,
        after: Sequence = 0,
        last_event_id: Annotated[Sequence | None, Header()] = None,
    ) -> StreamingResponse:
        """Stream events as server-sent events until the execution ends or pauses. Reconnect with `Last-Event-ID`.

        If the key is revoked or expires, or the client reads too slowly, the last event is `closed`.
        """
        await service.executions.get(execution, request.state.caller)  # 404 before the stream begins
        begin = after if last_event_id is None else last_event_id
        batches = service.executions.batches(execution, request.state.caller, begin)
        return StreamingResponse(
            _event_stream(batches, request.state.caller),
            media_type="text/event-stream",
            headers={"Cache-Control": "no-store"},
        )


def _add_going_on(app: FastAPI, service: CodeMode, authenticated: Any) -> None:
    @app.post("/v1/executions/{execution}/cancel", tags=["executions"], dependencies=[authenticated])
    async def cancel(execution: str, request: Request) -> Response:
        """Cancel an execution. The outcome reports which calls were made, which were not, and which are unknown."""
        await service.executions.cancel(execution, request.state.caller)
        return DataResponse(await whole(service, execution, request.state.caller))

    @app.post("/v1/executions/{execution}/resume", tags=["executions"], dependencies=[authenticated])
    async def resume(execution: str, request: Request, body: ResumeRequest | None = None) -> Response:
        """Continue a paused execution. Completed calls are not repeated."""
        caller: Caller = request.state.caller
        await service.executions.resume(execution, caller, _credentials(request, service))
        _keep_turn(request, service, execution, caller)
        return await _answered(service, execution, caller, body.wait_s if body else None)

    @app.post("/v1/executions/{execution}/rollback", tags=["executions"], dependencies=[authenticated])
    async def rollback(execution: str, request: Request, body: ResumeRequest | None = None) -> Response:
        """Undo committed calls, newest first, where a tool names its inverse."""
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
        """List calls that wait for a person, oldest first. Approvers see all calls, other keys their own."""
        waiting = await service.executions.approvals(request.state.caller, execution)
        return {"approvals": [pending_json(call) for call in waiting]}

    @app.post("/v1/approvals", tags=["approvals"], dependencies=[authenticated])
    async def decide_several(body: DecisionsRequest, request: Request) -> dict[str, Any]:
        """Decide on several calls, all or none."""
        return await _decided(service, request, [_decision(one.id, one) for one in body.decisions])

    @app.post("/v1/approvals/{approval}", tags=["approvals"], dependencies=[authenticated])
    async def decide(approval: str, body: DecisionRequest, request: Request) -> dict[str, Any]:
        """Decide on one call. An execution with no other pending calls then continues by itself."""
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
    """Return the caller's credentials for upstream services, taken from request headers."""
    return {name: request.headers[name] for name in service.caller_names if name in request.headers}


def _digest(body: ExecuteRequest) -> str:
    """Return a digest that identifies repeated requests: everything except `wait_s`."""
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
    """Return the outcome, or 202 and a Location: also if this server stops and another one continues the work."""
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
    """Keep the request's place for as long as the execution runs."""
    turn = getattr(request.state, "turn", None)
    if turn is not None:
        turn.keep(asyncio.ensure_future(_over(service, execution, caller)))


async def _over(service: CodeMode, execution: str, caller: Caller) -> None:
    with suppress(CodeModeError):  # nobody waits for this result
        await service.executions.wait(execution, caller, _LONGEST_WAIT_S)


async def _event_stream(batches: AsyncGenerator[tuple[ExecutionEvent, ...]], caller: Caller) -> AsyncIterator[str]:
    """Format events as text/event-stream (HTML Living Standard, 9.2), with keep-alive comments in silent periods."""
    coming = asyncio.ensure_future(anext(batches, None))
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
            coming = asyncio.ensure_future(anext(batches, None))
    except TooSlow as slow:
        yield _closed(slow)
    finally:
        coming.cancel()
        await asyncio.gather(coming, return_exceptions=True)
        await batches.aclose()


def _closed(reason: CodeModeError) -> str:
    """Return the last event of a stream that ends before its execution."""
    data = {"type": "closed", "code": reason.code, "message": str(reason)}
    return f"event: closed\ndata: {json.dumps(data)}\n\n"


async def until_disconnect(request: Request, work: Awaitable[T]) -> T | None:
    """Return the result of `work`. If the client disconnects first, cancel the work and return None."""
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
