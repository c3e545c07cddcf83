"""The figures of the README and of the documentation's first pages: what an API costs a model, and one task.

    python -m benchmarks.figures        (exact with the data of `make tokens`: set TIKTOKEN_CACHE_DIR to its folder)

Writes docs/figures.json and docs/cost.svg. A test compares the pages with the file. The task's tokens are the input of
all requests. Native tools get the benefit of each doubt: the model makes all calls of a step in one request, pages
and calls are right at once, and the tokens of its calls are left out. As two tools there are a search, a program, and
the answer.
"""

from __future__ import annotations

import asyncio
import json
import sys
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from codemode import CodeMode
from codemode.catalog.cost_curve import cost_curve
from codemode.catalog.tokens import count, local_tokenizer
from codemode.serving.cli.example_services import example_sources
from codemode.serving.cost_plot import cost_svg
from codemode.settings import Settings, tokenizer_folder

if TYPE_CHECKING:
    from codemode.catalog.cost import CostReport
    from codemode.catalog.tokens import Tokenizer

DOCS = Path(__file__).parents[1] / "docs"

QUESTION = "Whose membership ends in the next 30 days, without renewal, and who of them has not come for two weeks?"
QUERIES = ["memberships by end date", "visits of a client"]
_STEPS = ("gym.core.get_gym_info", "gym.memberships.get_memberships", "gym.clients.get_client_visits")
PROGRAM = (files("api_specs.gym") / "programs" / "leaving_members.py").read_text(encoding="utf-8")


async def figures() -> dict[str, Any]:
    """Measure the example API and the task."""
    tokenizer = local_tokenizer(tokenizer_folder())
    async with example_sources(("gym",)) as sources:
        settings = Settings.model_validate({"sources": sources})
        async with CodeMode.from_settings(settings) as service:
            report = service.discovery.cost()
            picture = cost_svg(cost_curve(service.catalog, report, tokenizer))
            return {
                "picture": picture,
                "counted": report.method,
                "tools": report.tools,
                **{mode.key: mode.tokens for mode in report.modes},
                "times": round(report.mode("native").tokens / report.mode("code").tokens),
                "task": await _task(service, report, tokenizer),
            }


async def _task(service: CodeMode, report: CostReport, tokenizer: Tokenizer | None) -> dict[str, Any]:
    """Run the program, and count what both ways send to the model."""

    def tokens(text: str) -> int:
        return count(text, tokenizer)

    outcome = (await service.execute(PROGRAM)).raise_for_status()
    found = tokens((await service.search(QUERIES)).text)
    question, program, answer = tokens(QUESTION), tokens(PROGRAM), tokens(json.dumps(outcome.value))
    results = [tokens(json.dumps(await _result(service, call.tool, call.arguments))) for call in outcome.calls]
    # One request for each step whose calls depend on the step before, and one for the answer.
    steps = [sum(results[place] for place, call in enumerate(outcome.calls) if call.tool == tool) for tool in _STEPS]
    assert sum(steps) == sum(results), [call.tool for call in outcome.calls]
    carried = sum(step * (len(steps) - place) for place, step in enumerate(steps))
    requests = len(steps) + 1
    deferred = report.mode("deferred")
    return {
        "calls": len(results),
        "answer": outcome.value,
        "native": {"requests": requests, "tokens": requests * (report.mode("native").tokens + question) + carried},
        "deferred": {
            "requests": requests + 1,
            "tokens": deferred.once + requests * deferred.tokens + (requests + 1) * question + carried,
        },
        "code": {
            "requests": 3,
            "tokens": 3 * (report.mode("code").tokens + question) + 2 * found + program + answer,
        },
    }


async def _result(service: CodeMode, tool: str, arguments: dict[str, Any]) -> Any:
    named = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
    return (await service.execute(f"{tool}({named})")).raise_for_status().value


def main() -> int:
    """Write the file and print it."""
    found = asyncio.run(figures())
    (DOCS / "cost.svg").write_text(found.pop("picture"), encoding="utf-8")
    measured = json.dumps(found, indent=2, ensure_ascii=False) + "\n"
    (DOCS / "figures.json").write_text(measured, encoding="utf-8")
    print(measured, end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
