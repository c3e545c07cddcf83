"""Berkeley Function Calling Leaderboard v4 (package `bfcl-eval`, Apache 2.0): the four multi-turn categories.

Source: Patil et al., "The Berkeley Function Calling Leaderboard", ICML 2025. The user's turns are scripted. The
package's own checker replays the calls and compares state and responses after each turn.
"""

from __future__ import annotations

import ast
import copy
import importlib
import inspect
import json
import uuid
from functools import cache, partial
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from bfcl_eval.constants.default_prompts import DEFAULT_USER_PROMPT_FOR_ADDITIONAL_FUNCTION_FC as MORE_FUNCTIONS
from bfcl_eval.constants.executable_backend_config import (
    CLASS_FILE_PATH_MAPPING,
    MULTI_TURN_FUNC_DOC_FILE_MAPPING,
    STATELESS_CLASSES,
)
from bfcl_eval.eval_checker.multi_turn_eval.multi_turn_checker import (
    multi_turn_checker,
    multi_turn_irrelevance_checker,
)

from codemode.bench.suite import Episode, Run, Task, ToolCall, Verdict
from codemode.bench.tools import SuiteTool, program_of
from codemode.errors import ConfigurationError
from codemode.text.nearest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

CATEGORIES = ("base", "miss_func", "miss_param", "long_context")

#: The namespace of all tools: the checker knows methods by their bare names.
NAMESPACE = "api"

#: Why the gold actions of these tasks do not solve them.
_CLOSES_TEXT = "the gold actions close ticket 'ticket_001', and the schema of the number says integer"
_GOLD_FAILS = {
    **{f"multi_turn_{category}_173": _CLOSES_TEXT for category in CATEGORIES},
    "multi_turn_miss_func_49": "the gold actions use `tail` in turn 1, and it is offered from turn 3 on",
}

#: Types of the package's documents that JSON Schema spells otherwise.
_TYPES = {"dict": "object", "float": "number", "tuple": "array", "any": None}


class Bfcl:
    """The multi-turn tasks of one category, or of all four."""

    packages = ("bfcl-eval",)

    def __init__(self, category: str = "") -> None:
        if category and category not in CATEGORIES:
            message = f"bfcl has no category {category!r}{did_you_mean(category, CATEGORIES)}"
            raise ConfigurationError(message)
        self.name = f"bfcl:{category}" if category else "bfcl"
        self._categories = (category,) if category else CATEGORIES

    def tasks(self) -> Sequence[Task]:
        """Return the tasks: 200 in each category."""
        return [task for category in self._categories for task in _tasks(f"BFCL_v4_multi_turn_{category}.json")]


def _tasks(file: str) -> list[Task]:
    answers = {entry["id"]: entry["ground_truth"] for entry in _lines("data", "possible_answer", file)}
    return [
        Task(
            entry["id"],
            ["\n".join(message["content"] for message in turn) or MORE_FUNCTIONS for turn in entry["question"]],
            partial(_begin, entry, answers[entry["id"]]),
            gold_fails=_GOLD_FAILS.get(entry["id"], ""),
        )
        for entry in _lines("data", file)
    ]


def _lines(*path: str) -> list[dict[str, Any]]:
    text = files("bfcl_eval").joinpath(*path).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def _begin(entry: dict[str, Any], truth: list[list[str]]) -> Episode:
    methods: dict[str, Any] = {}
    tools: dict[str, SuiteTool] = {}
    for name in entry["involved_classes"]:
        instance = _instance(name, entry)
        methods |= {one: method for one, method in inspect.getmembers(instance, inspect.ismethod) if one[0] != "_"}
        for described in _documents(name):
            tools[described["name"]] = SuiteTool(
                described["name"],
                described["description"],
                _schema(described["parameters"]),
                methods[described["name"]],
            )
    later: Mapping[str, list[str]] = entry.get("missed_function", {})
    withheld = {*entry.get("excluded_function", ()), *(name for names in later.values() for name in names)}
    return Episode(
        partial(_judge, entry, truth),
        gold=[program_of([_call_of(call, methods) for call in turn], NAMESPACE) for turn in truth],
        gold_answers=["Done."] * len(truth),
        tools={NAMESPACE: [tool for name, tool in tools.items() if name not in withheld]},
        added={int(turn): {NAMESPACE: [tools[name] for name in names]} for turn, names in later.items()},
    )


def _instance(name: str, entry: dict[str, Any]) -> Any:
    instance = getattr(importlib.import_module(CLASS_FILE_PATH_MAPPING[name]), name)()
    if name not in STATELESS_CLASSES:
        scenario = copy.deepcopy(entry["initial_config"].get(name, {}))
        instance._load_scenario(scenario, long_context="long_context" in entry["id"])
    return instance


@cache
def _documents(name: str) -> list[dict[str, Any]]:
    return _lines("data", "multi_turn_func_doc", MULTI_TURN_FUNC_DOC_FILE_MAPPING[name])


def _schema(described: Any) -> Any:
    """Return a parameter document of the package as JSON Schema."""
    if isinstance(described, list):
        return [_schema(one) for one in described]
    if not isinstance(described, dict):
        return described
    schema = {key: _schema(value) for key, value in described.items()}
    if isinstance(described.get("type"), str):
        schema["type"] = _TYPES.get(described["type"], described["type"])
    return {key: value for key, value in schema.items() if not (key == "type" and value is None)}


def _call_of(text: str, methods: Mapping[str, Any]) -> ToolCall:
    """Return the call in a text such as `sort('a.txt')`, with named arguments."""
    call = ast.parse(text, mode="eval").body
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        message = f"not a call: {text}"
        raise TypeError(message)
    positional = [ast.literal_eval(value) for value in call.args]
    named = {str(one.arg): ast.literal_eval(one.value) for one in call.keywords}
    bound = inspect.signature(methods[call.func.id]).bind(*positional, **named)
    return ToolCall(call.func.id, bound.arguments)


async def _judge(entry: dict[str, Any], truth: list[list[str]], run: Run) -> Verdict:
    made = [[[_text(call) for call in turn.calls]] for turn in run.turns]
    category = entry["id"].rsplit("_", 1)[0]
    once = f"codemode_{uuid.uuid4().hex}"  # the package keeps the instances of a model and task
    found = multi_turn_checker(made, truth, entry, category, once)
    if found["valid"] and category in ("multi_turn_miss_func", "multi_turn_miss_param"):
        found = multi_turn_irrelevance_checker(made, truth)
    return Verdict(found["valid"], found.get("error_message", ""), {"error_type": found.get("error_type", "")})


def _text(call: ToolCall) -> str:
    return f"{call.tool}({', '.join(f'{name}={value!r}' for name, value in call.arguments.items())})"


suite = Bfcl
