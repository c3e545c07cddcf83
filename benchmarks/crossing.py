"""The same job with more and more calls and tools, in each mode: from how many calls on is code mode cheaper?

    python -m benchmarks.crossing FILE [MODE …]   plays the jobs and appends their results to the file

The model is a script that obeys: it calls what it is shown, searches only for what it is not shown, makes independent
calls in one answer, and writes one program where it can. Requests are those of the agent and their tokens are counted
(o200k_base where its ranks are). Input is cached as far as an earlier request of the attempt begins with it;
definitions that are added count as the last part of a request. The other tools are the gym's, as often as needed.
"""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import dataclass
from functools import lru_cache, partial
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from codemode.bench.modes import chosen_players
from codemode.bench.origins import origin_of
from codemode.bench.recorded_players import WithModel
from codemode.bench.runner import run_tasks
from codemode.bench.suite import Episode, Run, Task, Verdict
from codemode.bench.tools import ReadingTool
from codemode.catalog.definitions import native
from codemode.catalog.tokens import count, local_tokenizer
from codemode.serving.agent.transcript import (
    ModelAnswer,
    TokenUsage,
    ToolMessage,
    ToolRequest,
    chat_messages,
    without_images,
)
from codemode.settings import AgentSettings, SecretReference, tokenizer_folder
from codemode.sources.documents.parse import parse_document
from codemode.sources.openapi.document import load_openapi

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Sequence

    from codemode.bench.players import Player
    from codemode.bench.results import Key
    from codemode.serving.agent.models import ModelRequest

TOOLS = (3, 10, 30, 100, 1_000)
CALLS = (1, 3, 10, 30, 100)
MODES = ("code", "native", "deferred", "menu", "fastmcp")

#: `side`: calls that need nothing of each other. `chain`: each call needs the result before it.
JOBS = {
    "side": "What is the sum of the totals of the orders {numbers}?",
    "chain": "Begin with order 1. Each names the next one. What is the sum of the totals of the first {calls} orders?",
}

#: Programs that do a job, in our language and with the `call_tool` of FastMCP.
PROGRAMS = {
    (
        "side",
        "code",
    ): "orders = await asyncio.gather(*(orders.get(number=n) for n in {numbers}))\nsum(o['total'] for o in orders)",
    ("chain", "code"): (
        "number, total = 1, 0\nfor _ in range({calls}):\n    order = orders.get(number=number)\n"
        "    number, total = order['next'], total + order['total']\ntotal"
    ),
    ("side", "fastmcp"): (
        "total = 0\nfor n in {numbers}:\n    order = await call_tool('orders_get', {{'number': n}})\n"
        "    total += order['total']\nreturn total"
    ),
    ("chain", "fastmcp"): (
        "number, total = 1, 0\nfor _ in range({calls}):\n"
        "    order = await call_tool('orders_get', {{'number': number}})\n"
        "    number, total = order['next'], total + order['total']\nreturn total"
    ),
}


def order(number: int) -> dict[str, Any]:
    """Return an order."""
    return {
        "number": number,
        "next": number + 1,
        "state": "shipped",
        "placed": f"2026-{1 + number % 12:02}-{1 + number % 28:02}",
        "customer": {"id": 7_000 + number, "name": "Ada Lovelace", "city": "Innsbruck"},
        "lines": [{"article": f"A-{number}", "amount": 2, "price": number + 3}],
        "total": 2 * (number + 3),
    }


@lru_cache
def fillers() -> tuple[dict[str, Any], ...]:
    """Return the definitions of the gym's tools."""
    document = Path(str(files("api_specs.gym") / "openapi.yaml"))
    surface = load_openapi(parse_document(document.read_text(encoding="utf-8"), location=str(document)), name="gym")
    return tuple(native(tool)["function"] | {"id": tool.id} for tool in surface.tools)


def tools(number: int) -> dict[str, list[ReadingTool]]:
    """Return this number of tools by namespace. One of them reads an order."""
    schema = {"type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"]}
    spaces = {"orders": [ReadingTool("get", "Return an order by its number, with lines and total.", schema, order)]}
    for index in range(number - 1):
        again, at = divmod(index, len(fillers()))
        one = fillers()[at]
        name = one["id"].partition(".")[2].replace(".", "_")
        filler = ReadingTool(name, one["description"], one["parameters"], lambda **_: None)
        spaces.setdefault(f"gym{again + 1}", []).append(filler)
    return spaces


@dataclass(frozen=True, slots=True)
class Job:
    """A job of one size. Its id is a task id."""

    kind: str
    tools: int
    calls: int

    @property
    def id(self) -> str:
        """The task's id: `side.30-tools.10-calls`."""
        return f"{self.kind}.{self.tools}-tools.{self.calls}-calls"

    @classmethod
    def of(cls, id_: str) -> Job:
        """Return the job with this id."""
        kind, tools_, calls = id_.split(".")
        return cls(kind, int(tools_.partition("-")[0]), int(calls.partition("-")[0]))

    @property
    def numbers(self) -> list[int]:
        """The numbers of the orders."""
        return list(range(1, self.calls + 1))

    @property
    def total(self) -> int:
        """The right answer."""
        return sum(order(number)["total"] for number in self.numbers)

    def filled(self, text: str) -> str:
        """Return a text with the size of the job."""
        return text.format(calls=self.calls, numbers=self.numbers)

    def task(self) -> Task:
        """Return the job as a task."""
        return Task(self.id, [self.filled(JOBS[self.kind])], self._begin)

    def _begin(self) -> Episode:
        return Episode(self._judged, gold=[], tools=tools(self.tools))

    async def _judged(self, run: Run) -> Verdict:
        return Verdict(str(self.total) in run.answer, f"the answer lacks {self.total}")


class Obedient:
    """The model of one attempt. It counts its tokens."""

    def __init__(self, key: Key) -> None:
        self._job = Job.of(key[1])
        self._seen: list[tuple[list[str], list[str]]] = []

    async def ask(self, request: ModelRequest) -> AsyncIterator[str | ModelAnswer]:
        """Answer as far as the texts of the request allow it."""
        calls = tuple(
            ToolRequest(f"c{len(self._seen)}_{number}", name, json.dumps(arguments))
            for number, (name, arguments) in enumerate(self._calls(request))
        )
        text = "" if calls else self._answer(request)
        written = text or "".join(json.dumps([call.name, call.arguments]) for call in calls)
        yield ModelAnswer(text, calls, usage=self._usage(request, written))

    def _answer(self, request: ModelRequest) -> str:
        """Answer with the sum, if a program told it, or native calls told its parts."""
        results = [one.text for one in request.messages if isinstance(one, ToolMessage) and one.name == "execute"]
        is_told = not results or any(str(self._job.total) in text for text in results)
        return f"The sum is {self._job.total}." if is_told else "The program failed."

    def _calls(self, request: ModelRequest) -> Iterator[tuple[str, dict[str, Any]]]:
        names = {tool["function"]["name"] for tool in request.tools}
        answers = [message for message in request.messages if isinstance(message, ToolMessage)]
        if "execute" in names:
            yield from self._of_code(request, names, answers)
            return
        native_name = "orders-get"
        done = sum(answer.name == native_name for answer in answers)
        if native_name not in names:
            search = "tool_search" if "tool_search" in names else "request_tool"
            yield search, {"query" if search == "tool_search" else "name_or_description": "get an order by its number"}
        elif self._job.kind == "side" and not done:
            yield from ((native_name, {"number": number}) for number in self._job.numbers)
        elif done < self._job.calls:
            yield native_name, {"number": self._job.numbers[done]}

    def _of_code(
        self, request: ModelRequest, names: set[str], answers: Sequence[ToolMessage]
    ) -> Iterator[tuple[str, dict[str, Any]]]:
        asked = [answer.name for answer in answers]
        if "execute" in asked:
            return
        is_peer = "get_schema" in names
        program = self._job.filled(PROGRAMS[self._job.kind, "fastmcp" if is_peer else "code"])
        shown = "\n".join([request.system, json.dumps(request.tools), *(answer.text for answer in answers)])
        if is_peer and "search" not in asked:
            yield "search", {"query": "get an order by its number"}
        elif is_peer and "get_schema" not in asked:
            yield "get_schema", {"tools": ["orders_get"]}
        elif is_peer or "orders.get(" in shown:
            yield "execute", {"code": program}
        else:
            yield "search", {"queries": ["get an order by its number"]}

    def _usage(self, request: ModelRequest, written: str) -> TokenUsage:
        system = {"role": "system", "content": request.system}
        messages = [json.dumps(one) for one in (system, *chat_messages(without_images(request.messages)))]
        definitions = [json.dumps(one) for one in request.tools]
        cached = max((_repeated(before, (definitions, messages)) for before in self._seen), default=0)
        self._seen.append((definitions, messages))
        return TokenUsage(sum(map(tokens, (*definitions, *messages))), tokens(written), cached)


def _repeated(before: tuple[list[str], list[str]], now: tuple[list[str], list[str]]) -> int:
    """Return the tokens with which a request begins as an earlier one did."""
    same = _shared(before[0], now[0])
    rest = now[1][: _shared(before[1], now[1])] if same == len(before[0]) else []
    return sum(map(tokens, (*now[0][:same], *rest)))


def _shared(before: Sequence[str], now: Sequence[str]) -> int:
    pairs = enumerate(zip(before, now, strict=False))
    return next((at for at, (one, other) in pairs if one != other), min(len(before), len(now)))


@lru_cache(maxsize=20_000)
def tokens(text: str) -> int:
    """Return the tokens of a text."""
    return count(text, local_tokenizer(tokenizer_folder()))


def _obedient(player: WithModel, key: Key) -> Player:
    return player.with_model(Obedient(key))


async def main(file: Path, modes: Sequence[str]) -> None:
    """Play the jobs that the file lacks."""
    jobs = [Job(kind, number, calls) for kind in JOBS for number in TOOLS for calls in CALLS]
    settings = AgentSettings(
        model="obedient",
        api_key=SecretReference(env="PATH"),
        iterations=1_000,
        figures="off",
        base_url="http://127.0.0.1:9",
    )
    for mode in modes:
        (player,) = chosen_players(settings, mode)
        if not isinstance(player, WithModel):
            sys.exit(f"the mode {mode} takes no model of ours")
        play = partial(run_tasks, "crossing", [job.task() for job in jobs], player, jobs=1, out=file)
        results = await play(about=origin_of((player,), {}), player_of=partial(_obedient, player))
        unsolved = [one.task for one in results if not one.solved]
        print(f"{mode}: {len(results) - len(unsolved)} of {len(results)} solved {unsolved[:5]}", flush=True)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2:] or MODES))
