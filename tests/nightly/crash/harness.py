"""Kills servers and looks at what is left: the journal and the service behind the tools have to agree."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import sys
import time
from collections import Counter, defaultdict
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from codemode.executions.journal.configured import journal_of
from codemode.executions.types.record import Record, RecordedCall
from codemode.executions.types.records import Decision
from codemode.gateway.call import CallState
from codemode.settings import Secrets, load_settings
from tests.nightly.crash.programs import PROGRAMS, Program

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from codemode.executions.journal.base import Journal
    from codemode.executions.types.records import PendingCall, StoredExecution, Verdict

ROOT = Path(__file__).parents[3]

#: That executions may take to end after a restart, on a slow machine.
SETTLED_S = 60.0

#: Requests as the service has seen them, by tag and label: the key of each.
Seen = dict[tuple[str, str], list[str]]


@dataclass
class Counts:
    """What was found, over all kills."""

    kills: int = 0
    missed: int = 0
    restarts_killed: int = 0
    ends: Counter[str] = field(default_factory=Counter)
    writes: Counter[str] = field(default_factory=Counter)
    sent_again: int = 0
    most_unknown: int = 0
    continue_after_decision: int = 0


class Harness:
    """A service that counts, and one server after the other in front of it, on one journal."""

    def __init__(self, journal: Journal, servers: asyncio.subprocess.Process, service: Service) -> None:
        self.journal = journal
        self.counts = Counts()
        self.running: dict[str, Program] = {}
        self._servers = servers
        self._service = service
        self._port = 0
        self._pid = 0
        self._tags = 0
        self._posts: list[asyncio.Task[None]] = []

    async def start(self, **boundary: int) -> None:
        """Start a server; where a boundary is given it kills itself there."""
        assert self._servers.stdin is not None and self._servers.stdout is not None and self._servers.stderr is not None
        self._servers.stdin.write(json.dumps(boundary).encode() + b"\n")
        self._pid = int(await self._servers.stdout.readline())
        said = b""
        try:
            async with asyncio.timeout(SETTLED_S):
                while not (found := re.search(rb" on http://127\.0\.0\.1:(\d+)", said)):
                    said += await self._servers.stderr.readline()
        except TimeoutError:
            message = f"no server starts: {said.decode()}"
            raise AssertionError(message) from None
        self._port = int(found[1])

    def submit(self, programs: Sequence[Program] = PROGRAMS) -> None:
        """Send programs to the server, all at once."""
        for program in programs:
            self._tags += 1
            tag = f"t{self._tags}"
            self.running[tag] = program
            self._posts.append(asyncio.create_task(self._post("/v1/execute", {"code": program.tagged(tag)})))

    async def answered(self) -> None:
        """Wait until the server has answered, or is gone."""
        await asyncio.gather(*self._posts)
        self._posts.clear()

    async def kill(self) -> bool:
        """Kill the server; whether an execution was under way."""
        os.kill(self._pid, signal.SIGKILL)
        return await self.dead()

    async def aclose(self) -> None:
        """End the server that still runs."""
        if self._pid:
            with suppress(ProcessLookupError):
                await self.kill()

    async def dead(self) -> bool:
        """Wait until the server is dead; whether an execution was under way."""
        assert self._servers.stdout is not None
        assert await asyncio.wait_for(self._servers.stdout.readline(), SETTLED_S) == b"ended\n"
        self._pid = 0
        await self.answered()
        return bool(await self.journal.list(status="running"))

    async def settle(self) -> None:
        """Wait until every execution has come to an end or to a pause."""
        deadline = time.monotonic() + SETTLED_S
        while running := await self.journal.list(status="running"):
            assert time.monotonic() < deadline, f"{[one.request.id for one in running]} neither end nor pause"
            await asyncio.sleep(0.02)

    async def check(self) -> None:
        """Compare the journal with what the service has seen of the executions since the last time.

        What waits for a person is decided by what the service has seen, and then has to end with each write done once.
        """
        await self._let_go_on()
        seen = await self._service.seen()
        waiting: list[tuple[StoredExecution, dict[str, list[str]]]] = []
        stored = await self.journal.list(limit=4 * len(self.running) + 10)
        for tag, program in self.running.items():
            found = [one for one in stored if one.request.code.startswith(f"TAG = {tag!r}\n")]
            assert len(found) <= 1, f"{tag} was begun twice"
            mine = {label: keys for (of, label), keys in seen.items() if of == tag}
            if not found:
                assert not mine, f"{tag} has sent {mine}, and is not in the journal"
                continue
            await self._check(found[0], program, mine)
            if found[0].status == "paused":
                waiting.append((found[0], mine))
        await self._go_on(waiting)
        self.running.clear()

    async def _let_go_on(self) -> None:
        """Let go on what several servers were killed with: that no call waits is said by no other pause."""
        for stored in await self.journal.list(status="paused"):
            if not await self.journal.pending(execution=stored.request.id):
                await self._post(f"/v1/executions/{stored.request.id}/resume", {})
        await self.settle()

    async def _go_on(self, waiting: Sequence[tuple[StoredExecution, dict[str, list[str]]]]) -> None:
        for stored, seen in waiting:
            asked = await self.journal.pending(execution=stored.request.id)
            answers = [_answer(call, is_done=call.arguments["label"] in seen) for call in asked]
            await self.journal.decide(answers)
            await self._post(f"/v1/executions/{stored.request.id}/resume", {})
        await self.settle()
        later = await self._service.seen()
        for stored, seen in waiting:
            ended = await self.journal.get(stored.request.id)
            asked = await self.journal.pending(execution=stored.request.id)
            said = f"{stored.request.id} was decided on, and is {ended.status}; asked: {asked}"
            assert ended.status == "completed", said
            tag = stored.request.code.partition("\n")[0].removeprefix("TAG = ").strip("'")
            for (of, label), keys in later.items():
                if of == tag:
                    seen.setdefault(label, []).extend(keys)
            twice = {label: keys for label, keys in seen.items() if len(keys) > 1 and not _is_harmless(label, keys)}
            assert not twice, f"{stored.request.id} went on, and has sent {twice}"
            self.counts.continue_after_decision += 1

    async def _check(self, stored: StoredExecution, program: Program, seen: dict[str, list[str]]) -> None:
        execution = stored.request.id
        self.counts.ends[stored.status] += 1
        outcome = (await self.journal.get(execution)).outcome
        assert stored.status in ("completed", "paused"), f"{execution} is {stored.status}: {outcome}"
        record = Record(execution, await self.journal.read(execution))
        writes = {call.arguments["label"]: call for call in record.calls.values() if call.effect == "write"}
        unknown = {label for label, call in writes.items() if call.end is None}
        for label, call in writes.items():
            self._check_write(execution, call, seen.get(label, []))
        for label, keys in seen.items():
            if not label.startswith("r"):
                assert label in writes, f"{execution}: the service has seen {label} {keys}, and the journal has not"
        waiting = {call.path for call in await self.journal.pending(execution=execution)}
        asked = {writes[label].path for label in unknown if writes[label].tool == "plain.things.write"}
        assert waiting == asked, f"{execution}: {waiting} are asked about, {asked} are unknown"
        assert bool(waiting) == (stored.status == "paused"), f"{execution} is {stored.status}, {waiting} wait"
        assert waiting or not unknown, f"{execution} has ended, and {unknown} are unknown"
        assert len(unknown) <= program.width, f"{execution}: {unknown} are unknown, {program.width} were under way"
        self.counts.most_unknown = max(self.counts.most_unknown, len(unknown))

    def _check_write(self, execution: str, call: RecordedCall, keys: list[str]) -> None:
        said = f"{execution}: {call.tool} {call.arguments} was seen as {keys}"
        if call.end is not None:
            assert call.end.state is CallState.COMMITTED, f"{said}, and is {call.end.state}"
            assert keys, f"{said}, and is committed"
        assert len(keys) <= 1 or (len(set(keys)) == 1 and keys[0]), f"{said}: more than once"
        self.counts.sent_again += len(keys) > 1
        self.counts.writes["committed" if call.end else "unknown, seen" if keys else "unknown, not seen"] += 1

    async def _post(self, path: str, content: dict[str, Any]) -> None:
        body = json.dumps(content).encode()
        head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{self._port}\r\nContent-Type: application/json\r\n"
        with suppress(ConnectionError):
            reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
            writer.write(f"{head}Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode() + body)
            answer = await reader.read()
            assert not answer or answer[:12] in (b"HTTP/1.1 200", b"HTTP/1.1 202"), answer[:500]
            writer.close()


def _answer(call: PendingCall, *, is_done: bool) -> Decision:
    """What a person says who has looked at the service."""
    value = {"label": call.arguments["label"], "text": ""}
    verdict: Verdict = "committed" if is_done else "send_again"
    return Decision(call.id, call.digest, verdict, "a person", value=value if is_done else None)


def _is_harmless(label: str, keys: list[str]) -> bool:
    """Whether a call may be seen more than once: it reads, or the service knows it by its key."""
    return label.startswith("r") or (len(set(keys)) == 1 and bool(keys[0]))


@dataclass(frozen=True, slots=True)
class Service:
    """The counting service."""

    port: int
    host: str = "127.0.0.1"

    async def seen(self) -> Seen:
        """What it has seen since it was last asked."""
        reader, writer = await asyncio.open_connection(self.host, self.port)
        writer.write(b"GET /seen HTTP/1.1\r\nHost: x\r\n\r\n")
        head = await reader.readuntil(b"\r\n\r\n")
        length = re.search(rb"Content-Length: (\d+)", head)
        assert length is not None
        rows = json.loads(await reader.readexactly(int(length[1])))
        writer.close()
        found: Seen = defaultdict(list)
        for _, _, tag, label, key in rows:
            found[tag, label].append(key)
        return found


@asynccontextmanager
async def harness(folder: Path, url: str = "") -> AsyncIterator[Harness]:
    """A harness in an empty folder, or on the PostgreSQL of a URL; whatever it has started ends with it."""
    async with AsyncExitStack() as stack:
        upstream = await _process(stack, "tests.nightly.crash.upstream")
        assert upstream.stdout is not None
        port = int(await upstream.stdout.readline())
        config = folder / "codemode.yaml"
        config.write_text(json.dumps(_config(folder, port, url)), encoding="utf-8")
        servers = await _process(stack, "tests.nightly.crash.server", str(config))
        journal = journal_of(load_settings(config), Secrets())
        assert journal is not None
        await journal.open()
        stack.push_async_callback(journal.aclose)
        made = Harness(journal, servers, Service(port))
        stack.push_async_callback(made.aclose)
        yield made


async def _process(stack: AsyncExitStack, module: str, *arguments: str) -> asyncio.subprocess.Process:
    pipe = asyncio.subprocess.PIPE
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", module, *arguments, stdin=pipe, stdout=pipe, stderr=pipe, cwd=ROOT
    )

    async def end() -> None:
        process.kill()
        await process.communicate()

    stack.push_async_callback(end)
    return process


def sources(folder: Path, base_url: str) -> dict[str, Any]:
    """The `sources` of a configuration in a folder: the counting service without idempotency keys, and with them."""
    text = {"schema": {"type": "string"}}
    parameters = [{"name": name, "in": "query", **text} for name in ("tag", "label", "value")]
    operations = {
        method: {"operationId": name, "tags": ["things"], "parameters": parameters, "responses": answer}
        for method, name in {"get": "read", "post": "write"}.items()
        for answer in [{"200": {"description": "", "content": {"application/json": {"schema": {"type": "object"}}}}}]
    }
    document = {"openapi": "3.1.0", "info": {"title": "Things", "version": "1"}, "paths": {"/things": operations}}
    (folder / "things.json").write_text(json.dumps(document), encoding="utf-8")
    source = {"location": "things.json", "base_url": base_url, "credentials": [{"kind": "none"}]}
    return {"plain": source, "keyed": {**source, "idempotency_header": "Idempotency-Key"}}


def _config(folder: Path, port: int, url: str) -> dict[str, Any]:
    secret = folder / "journal.secret"
    secret.write_text("the key of a harness", encoding="utf-8")
    lease_s = 2 if url else 15  # nobody else knows that a server is dead
    journal = {"url": url or None, "key": {"file": str(secret)}, "lease_s": lease_s}
    return {
        "sources": sources(folder, f"http://127.0.0.1:{port}"),
        "server": {"port": 0},
        "observe": {"log": "off"},
        "limits": {"wall_s": 120},
        "journal": journal,
        "state_folder": str(folder / "state"),
        "cache_folder": str(folder / "cache"),
    }
