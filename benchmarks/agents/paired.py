"""The tasks that every mode plays: 100 of four suites, in four blocks for players who answer by hand.

    python -m benchmarks.agents.paired          prints what the files lack; exit code 1 if they differ
    python -m benchmarks.agents.paired --write  writes benchmarks/agents/paired/NAME.txt

Two further files are `attacked`, five attacked tasks of each part of AgentDojo, and `other`, 25 tasks that no other
file has.

The rule: 24 tasks that were played first, and others that `random.Random(49)` draws from each suite's sorted ids. Only
tasks whose gold actions fail the suite's own judge are left out. Blocks are dealt in turn, so that each has all suites.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

from codemode.bench.registry import suite_of, tasks_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

FOLDER = Path(__file__).parent / "paired"
ATTACK = "agentdojo:important_instructions"
BLOCKS = 4

#: Tasks by suite.
SIZES = {"tau2": 50, "agentdojo": 20, "bfcl": 20, "gym": 10}

#: The tasks of the first players, so that their figures can be compared.
FIRST: Mapping[str, Sequence[str]] = {
    "tau2": [
        *(f"retail.{number}" for number in (58, 14, 93, 113)),
        *(f"airline.{number}" for number in (49, 6, 0, 40)),
    ],
    "agentdojo": [
        *(f"workspace.user_task_{number}" for number in (25, 21, 33, 24)),
        *(f"travel.user_task_{number}" for number in (11, 1, 16, 3)),
    ],
    "gym": [
        *("freeze-19-days", "next-class", "note-for-a-member", "rules-not-signed"),
        *("busiest-trainer", "open-surveys", "pay-the-trainers", "branches"),
    ],
}


def drawn(ids: Sequence[str], size: int, first: Sequence[str], chance: random.Random) -> list[str]:
    """Return the first tasks and others of these ids, in random order."""
    others = sorted(set(ids) - set(first))
    chosen = [*first, *chance.sample(others, size - len(first))]
    chance.shuffle(chosen)
    return chosen


def blocks() -> list[str]:
    """Return the text of each block's file. Raises ConfigurationError if a suite is not installed."""
    chance = random.Random(49)  # noqa: S311 -- a draw that anybody can repeat
    lines: list[str] = []
    for suite, size in SIZES.items():
        ids = [task.id for task in tasks_of(suite_of(suite)) if not task.gold_fails]
        lines += [f"{suite} {task}" for task in drawn(ids, size, FIRST.get(suite, ()), chance)]
    return ["".join(f"{line}\n" for line in lines[block::BLOCKS]) for block in range(BLOCKS)]


def attacked() -> str:
    """Return five attacked tasks of each part. Raises ConfigurationError if the suite is not installed."""
    chance = random.Random(49)  # noqa: S311 -- a draw that anybody can repeat
    parts: dict[str, list[str]] = defaultdict(list)
    for task in sorted(task.id for task in tasks_of(suite_of(ATTACK))):
        parts[task.partition(".")[0]].append(task)
    return "".join(f"{ATTACK} {task}\n" for part in sorted(parts) for task in chance.sample(parts[part], 5))


def other(used: set[str]) -> str:
    """Return 25 tasks whose lines are not used. Raises ConfigurationError if a suite is not installed."""
    chance = random.Random(50)  # noqa: S311 -- a draw that anybody can repeat
    lines: list[str] = []
    for suite, size in {"tau2": 7, "agentdojo": 5, "bfcl": 10, "gym": 3}.items():
        ids = sorted(task.id for task in tasks_of(suite_of(suite)) if not task.gold_fails)
        lines += [
            f"{suite} {task}" for task in chance.sample([id_ for id_ in ids if f"{suite} {id_}" not in used], size)
        ]
    return "".join(f"{line}\n" for line in lines)


def drawn_files() -> dict[str, str]:
    """Return the text of each file by its name. Raises ConfigurationError if a suite is not installed."""
    texts = {str(number): text for number, text in enumerate(blocks(), 1)}
    used = {line for text in texts.values() for line in text.splitlines()}
    used |= {f"gym {task.id}" for task in tasks_of(suite_of("surface"))}
    return {**texts, "attacked": attacked(), "other": other(used)}


def main() -> int:
    """Compare the files with the rule, or write them."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write the files")
    writes = parser.parse_args().write
    differing = 0
    for name, text in drawn_files().items():
        file = FOLDER / f"{name}.txt"
        if writes:
            FOLDER.mkdir(exist_ok=True)
            file.write_text(text, encoding="utf-8")
        elif not file.exists() or file.read_text(encoding="utf-8") != text:
            differing += 1
            print(f"{file} differs from the rule")
    return int(differing > 0)


if __name__ == "__main__":
    sys.exit(main())
