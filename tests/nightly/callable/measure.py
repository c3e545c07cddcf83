"""Whether the operations of a document are callable: generated arguments, sent to a real server, judged there.

Each operation is called twice, with its required arguments only and with all. `openapi-core` judges the request as it
came over the wire; where that cannot read it, the second opinion does. An operation is callable when both calls are
accepted.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from codemode.catalog.arguments import validate
from codemode.catalog.shapes import Direction, Shapes
from codemode.catalog.tool import Location
from codemode.errors import CallError
from codemode.sources.openapi.document import load_openapi
from codemode.transports.base import CallContext
from codemode.transports.http.transport import HttpTransport, Reach
from tests.nightly.callable.examples import example
from tests.nightly.callable.judge import Judge
from tests.nightly.callable.second_opinion import Request, SecondOpinion
from tests.nightly.callable.swagger import as_openapi3
from tests.unit.codemode.transports.recorder import Answered, Recorder

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping

    from codemode.catalog.tool import Tool

#: Operations beyond this many are sampled.
ALL_UP_TO = 2_000
SAMPLED = 1_000


@dataclass
class Report:
    """What became of the operations of one document. `failures` are `(operation, call, reason)`."""

    operations: int = 0
    tried: int = 0
    parameters: int = 0
    untyped: int = 0
    callable: int = 0
    by_second_opinion: int = 0
    warnings: int = 0
    failures: list[tuple[str, str, str]] = field(default_factory=list)
    reasons: Counter[str] = field(default_factory=Counter)


@asynccontextmanager
async def recorder() -> AsyncIterator[Recorder]:
    """A recording server on a loopback port of its own; its connections end with those of its clients."""
    recording = Recorder()
    recording.answer = lambda received: Answered(body=b"" if received.method == "HEAD" else b"{}")
    serving: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        serving.add(asyncio.create_task(recording.serve(reader, writer)))

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    recording.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield recording
    finally:
        server.close()
        await asyncio.gather(*serving)


async def measure(
    document: Mapping[str, Any],
    *,
    most: int | None = None,
    seed: str = "codemode",
    uri: str = "",
    retrieve: Callable[[str], Any] | None = None,
) -> Report:
    """Call the operations of a parsed document: a seeded sample of `most`; None: all, of very many a thousand."""
    surface = load_openapi(document, name="api", uri=uri, retrieve=retrieve)
    chance = random.Random(seed)  # noqa: S311 -- a sample, no secret
    tools = list(surface.tools)
    most = most or (SAMPLED if len(tools) > ALL_UP_TO else len(tools))
    chosen = tools if len(tools) <= most else chance.sample(tools, most)
    report = Report(operations=len(tools), tried=len(chosen), warnings=len(surface.warnings))
    shapes = Shapes(Direction.REQUEST, naming=False)
    for tool in chosen:
        texts = [shapes.text(parameter.schema) for parameter in tool.parameters]
        report.parameters += len(texts)
        report.untyped += texts.count("Any")
    published = as_openapi3(document)
    judges = Judge(published), SecondOpinion(published)
    async with recorder() as server:
        transport = HttpTransport(Reach("api", server.url, servers=surface.servers))
        try:
            for tool in chosen:
                await _try(tool, server, transport, judges, chance, report)
        finally:
            await transport.aclose()
    return report


async def _try(
    tool: Tool,
    server: Recorder,
    transport: HttpTransport,
    judges: tuple[Judge, SecondOpinion],
    chance: random.Random,
    report: Report,
) -> None:
    second = False
    is_callable = True
    for call in ("required", "all"):
        verdict, used_second, reason = await _verdict(tool, call == "all", server, transport, judges, chance)
        second = second or used_second
        if used_second and verdict:
            report.reasons[reason] += 1
        if not verdict:
            is_callable = False
            report.failures.append((tool.key, call, reason))
    report.callable += is_callable
    report.by_second_opinion += is_callable and second


async def _verdict(
    tool: Tool,
    everything: bool,
    server: Recorder,
    transport: HttpTransport,
    judges: tuple[Judge, SecondOpinion],
    chance: random.Random,
) -> tuple[bool, bool, str]:
    arguments = arguments_for(tool, chance, everything=everything)
    server.received.clear()
    try:
        await transport.call(tool, validate(tool, arguments), CallContext())
    except CallError as error:
        return False, False, f"refused: {str(error)[:400]}"
    sent = server.received[-1]
    method, _, path = tool.key.partition(" ")
    judge, second = judges
    try:
        target = _without_base(sent.target, path)
        errors = judge.errors(path, method, target, sent.headers, sent.body)
    except Exception as error:  # noqa: BLE001 -- a judge that breaks has no opinion
        errors = [f"{type(error).__name__}: {error}"]
    if not errors:
        return True, False, ""
    request = Request(sent.method, _without_base(sent.target, path), sent.headers, sent.body)
    others = second.errors(path, method, request)
    if not others:
        return True, True, errors[0][:90]
    return False, True, f"rejected: {sent.target[:200]} {others[0]} || {errors[0][:300]} || {sent.body[:200]!r}"


def _without_base(target: str, path: str) -> str:
    """The target without the base path that the document's own servers put before it."""
    depth = path.partition("?")[0].partition("#")[0].strip("/").count("/") + 1
    way, mark, query = target.partition("?")
    trail = "/" if way.endswith("/") and len(way) > 1 else ""
    parts = way.strip("/").split("/")
    return "/" + "/".join(parts[-depth:]) + trail + mark + query


def arguments_for(tool: Tool, chance: random.Random, *, everything: bool) -> dict[str, Any]:
    """Arguments made from the schemas of a tool: all of them, or those that are required."""
    fields = [parameter for parameter in tool.parameters if parameter.location is Location.BODY_FIELD]
    found: dict[str, Any] = {}
    if fields and tool.details.body is not None and (tool.details.body_required or everything):
        whole = example(tool.details.body, chance, everything=everything)
        for parameter in fields:
            if isinstance(whole, dict) and parameter.wire_name in whole:
                found[parameter.name] = whole[parameter.wire_name]
            elif parameter.required:
                found[parameter.name] = example(parameter.schema, chance, everything=everything)
    for parameter in tool.parameters:
        if parameter.location is not Location.BODY_FIELD and (parameter.required or everything):
            found[parameter.name] = example(parameter.schema, chance, everything=everything)
    return found
