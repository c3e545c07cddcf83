"""Lets the runner of the program corpus run its records in a guest, with a preflight of the plainest kind."""

from __future__ import annotations

import sys
from datetime import datetime
from difflib import get_close_matches
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[2]))

from sandbox.guest import program
from tests.sandbox.guest.host_double import HostDouble, run_guest


class ProgramFailed(Exception):
    """Carries what a reader would be shown."""


class Adapter:
    """The interface of the corpus's runner."""

    @staticmethod
    def preload() -> None:
        program.warm_up()

    def start(self) -> None:
        """Nothing: `preload` did it."""

    def run(self, code: str, tools: dict[str, Any], record: dict[str, Any]) -> tuple[Any, str]:
        shown = record.get("now") or "2026-01-15T12:00:00Z"
        now = int(datetime.fromisoformat(shown.replace("Z", "+00:00")).timestamp() * 1_000_000)
        host = HostDouble(
            tools, now=now, delays=lambda call_id: 0, preflight=lambda sites: check(sites, record["operations"])
        )
        names = sorted({name.partition(".")[0] for name in record["operations"]})
        ended = run_guest(code, tools, names=names, now=now, host=host)
        if ended.status != "completed":
            raise ProgramFailed(ended.message)
        return ended.value, ended.output


def check(sites: list[list[Any]], operations: dict[str, Any]) -> str | None:
    """Refuse what cannot succeed, naming what is near. The project's own preflight says more."""
    problems = []
    for name, keywords, positional, open_ended, line, _ in sites:
        operation = operations.get(name)
        if operation is None:
            problems.append(f"line {line}: there is no operation {name}; near: {', '.join(_near(name, operations))}")
            continue
        valid = operation["params"]
        if positional:
            problems.append(f"line {line}: {name} takes keyword arguments only: {', '.join(valid)}")
        for keyword in keywords:
            if keyword not in valid:
                near = get_close_matches(keyword, valid, n=3, cutoff=0.3)
                problems.append(
                    f"line {line}: {name} has no argument {keyword}; near: {near}; it takes {', '.join(valid)}"
                )
        missing = [each for each in operation["required"] if each not in keywords]
        if missing and not open_ended and not positional:
            problems.append(f"line {line}: {name} needs {', '.join(missing)}")
    return "\n".join(problems) or None


def _near(name: str, operations: dict[str, Any]) -> list[str]:
    """Names that look alike, and names that share a word with the last part."""
    words = set(name.rpartition(".")[2].lower().split("_"))
    shared = [each for each in operations if words & set(each.rpartition(".")[2].split("_"))]
    folded = name.rpartition(".")[2].lower()
    same = [each for each in operations if each.rpartition(".")[2].replace("_", "") == folded]
    return [*same, *get_close_matches(name, operations, n=3, cutoff=0.3), *shared[:6]]
