"""Executions over HTTP: `/v1/execute`, `/v1/results/{handle}`,
`/v1/executions[/{id}[/events|cancel|resume]]`.

An execution belongs to the key that started it. Other keys get 404, except those of approvers. With a journal, a
request may be repeated under its `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header), and a request that
takes longer than `wait_s` is answered with 202 and a Location.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import Body, Header, Query, Request
from fastapi.responses import JSONResponse, Response
from pydantic import Field

from codemode.errors import RequestRepeated
from codemode.executions.life.feed import GOES_ON
from codemode.executions.types.records import ExecutionStatus  # noqa: TC001 -- FastAPI reads it at run time
from codemode.model.programs import BEYOND_S
from codemode.serving.executions import outcome_json, read_execution, summary_json
from codemode.serving.http.interface import accepted, answers, problem_answers
from codemode.serving.http.models import AcceptedExecution, Execution, ExecutionList, Outcome, WholeResult
from codemode.serving.http.requests import ExecuteRequest, ResumeRequest  # noqa: TC001 -- FastAPI reads them at run time
from codemode.serving.web.event_stream import EVENTS, EventStream, event_stream
from codemode.serving.web.outgoing import DataResponse
from codemode.serving.web.problems import problem
from codemode.serving.web.program_requests import keep_turn, until_disconnect

if TYPE_CHECKING:
    from collections.abc import Mapping

    from fastapi import FastAPI

    from codemode.gateway.caller import Caller
    from codemode.service import CodeMode

#: An event number: journals count below 2**32.
Sequence = Annotated[int, Field(ge=0, lt=2**32)]

_PROGRAMS: Any = {
    "program": {"summary": "A program", "value": {"code": "gym.core.get_gym_info()"}},
    "background": {"summary": "Continue in the background", "value": {"code": "1 + 1", "wait_s": 0}},
}

#: The responses of an operation that runs an execution.
_RUNS = accepted(AcceptedExecution) | answers(Outcome, 404, 409, 413)

STOPPING = "the server is stopping and has cancelled this program; with a journal, see GET /v1/executions"


def add_execution_routes(app: FastAPI, service: CodeMode, authenticated: Any) -> None:
    """Add the routes. `authenticated` is the dependency that requires a key."""
    _add_execute(app, service, authenticated)
    _add_looking(app, service, authenticated)
    _add_going_on(app, service, authenticated)


def _add_execute(app: FastAPI, service: CodeMode, authenticated: Any) -> None:
    @app.post("/v1/execute", tags=["executions"], dependencies=[authenticated], responses=_RUNS)
    async def execute(
        body: Annotated[ExecuteRequest, Body(openapi_examples=_PROGRAMS)],
        request: Request,
        idempotency_key: Annotated[str | None, Header(min_length=1, max_length=255)] = None,
    ) -> Response:
        """Run a program. The outcome reports how it ended, or what it waits for.

        Without `wait_s` and `Idempotency-Key`, closing the connection cancels the program.
        """
        caller: Caller = request.state.caller
        key = "" if body.dry_run else idempotency_key or ""
        wanted = body.request(credentials=credentials_of(request, service), key=key, begun=request.state.turn.begun)
        if body.wait_s is None and not key:
            try:
                work = service.programs.perform(wanted, caller, dry_run=body.dry_run)
                outcome = await until_disconnect(request, work)
            except asyncio.CancelledError:  # the server is stopping
                return problem(503, "stopping", STOPPING)
            return DataResponse(None if outcome is None else _noted(outcome.to_json(), body.notes))
        try:
            execution, notes = await service.programs.begin(wanted, caller)
        except RequestRepeated as repeated:
            request.state.turn.release()  # it starts nothing; after a crash, the execution it waits for needs a place
            return await _answered(service, repeated.execution, caller, body.wait_s, {"Idempotent-Replayed": "true"})
        keep_turn(request, service, execution, caller)
        return await _answered(service, execution, caller, body.wait_s, notes=(*notes, *body.notes))


def _add_looking(app: FastAPI, service: CodeMode, authenticated: Any) -> None:
    @app.get("/v1/executions", tags=["executions"], dependencies=[authenticated], responses=answers(ExecutionList, 409))
    async def list_executions(
        request: Request,
        status: ExecutionStatus | None = None,
        limit: Annotated[int, Query(ge=1, le=500)] = 50,
        before: str = "",
    ) -> Response:
        """List executions, newest first. `before` is the last id of the previous page."""
        found = await service.executions.list(request.state.caller, status=status, limit=limit, before=before)
        return DataResponse({"executions": [summary_json(stored) for stored in found]})

    @app.get(
        "/v1/executions/{execution}",
        tags=["executions"],
        dependencies=[authenticated],
        responses=answers(Execution, 404, 409),
    )
    async def get_execution(execution: str, request: Request) -> Response:
        """Return one execution: its program, its outcome once there is one, and its pending calls."""
        return DataResponse(await read_execution(service, execution, request.state.caller))

    @app.get(
        "/v1/results/{handle}",
        tags=["executions"],
        dependencies=[authenticated],
        responses=answers(WholeResult, 404, 409),
    )
    async def get_result(handle: str, request: Request) -> Response:
        """Return the whole result of a program of this key. Models see large results in part, with this handle."""
        return DataResponse({"value": await service.result(handle, caller=request.state.caller)})

    @app.get(
        "/v1/executions/{execution}/events",
        tags=["executions"],
        dependencies=[authenticated],
        response_class=EventStream,
        responses=EVENTS | problem_answers(401, 404, 409, 429, "default"),
    )
    async def stream_events(
        execution: str,
        request: Request,
        after: Sequence = 0,
        last_event_id: Annotated[Sequence | None, Header()] = None,
    ) -> EventStream:
        """Stream events as server-sent events until the execution ends or pauses. Reconnect with `Last-Event-ID`.

        If the key is revoked or expires, or the client reads too slowly, the last event is `closed`.
        """
        await service.executions.get(execution, request.state.caller)  # 404 before the stream begins
        begin = after if last_event_id is None else last_event_id
        batches = service.executions.batches(execution, request.state.caller, begin)
        return EventStream(event_stream(batches, request.state.caller), headers={"Cache-Control": "no-store"})


def _add_going_on(app: FastAPI, service: CodeMode, authenticated: Any) -> None:
    @app.post(
        "/v1/executions/{execution}/cancel",
        tags=["executions"],
        dependencies=[authenticated],
        responses=answers(Execution, 404, 409),
    )
    async def cancel_execution(execution: str, request: Request) -> Response:
        """Stop a running execution, or end a paused one.

        The outcome reports which calls were made, which were not, and which are unknown.
        """
        await service.executions.cancel(execution, request.state.caller)
        return DataResponse(await read_execution(service, execution, request.state.caller))

    @app.post("/v1/executions/{execution}/resume", tags=["executions"], dependencies=[authenticated], responses=_RUNS)
    async def resume_execution(execution: str, request: Request, body: ResumeRequest | None = None) -> Response:
        """Continue a paused execution. Completed calls are not repeated."""
        caller: Caller = request.state.caller
        await service.executions.resume(execution, caller, credentials_of(request, service))
        keep_turn(request, service, execution, caller)
        return await _answered(service, execution, caller, body.wait_s if body else None)


def credentials_of(request: Request, service: CodeMode) -> dict[str, str]:
    """Return the caller's credentials for upstream services, taken from request headers."""
    return {name: request.headers[name] for name in service.discovery.caller_names if name in request.headers}


def wait_s_of(service: CodeMode, wait_s: float | None) -> float:
    """Return how long a request waits for an execution, in seconds."""
    return service.settings.limits.longest_s + BEYOND_S if wait_s is None else wait_s


async def _answered(
    service: CodeMode,
    execution: str,
    caller: Caller,
    wait_s: float | None,
    headers: Mapping[str, str] | None = None,
    notes: tuple[str, ...] = (),
) -> Response:
    """Return the outcome, or 202 and a Location: also if this server stops and another one continues the work."""
    try:
        stored = await service.executions.wait(execution, caller, wait_s_of(service, wait_s))
    except asyncio.CancelledError:
        stored = None
    if stored is None or stored.status in GOES_ON:
        return accepted_response(execution, stored.status if stored else "running", headers)
    return DataResponse(_noted(outcome_json(stored), notes), headers=headers)


def _noted(outcome: dict[str, Any], notes: tuple[str, ...]) -> dict[str, Any]:
    return {**outcome, "notes": [*outcome["notes"], *notes]} if notes else outcome


def accepted_response(execution: str, status: ExecutionStatus, headers: Mapping[str, str] | None = None) -> Response:
    """Return 202 with the place of an execution that goes on."""
    place = {"Location": f"/v1/executions/{execution}", "Retry-After": "1"}
    return JSONResponse({"id": execution, "status": status}, 202, {**place, **(headers or {})})
