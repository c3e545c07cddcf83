"""Judges of suites, shown a player that does nothing: which tasks do they call solved?

    python -m benchmarks.judges SUITE…  prints the number of such tasks, and the tasks

A judge that is content with nothing measures no model. The answers are empty, and no tool is called.
"""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING

from codemode.bench.registry import suite_of
from codemode.bench.results import TurnRecord
from codemode.bench.runner import run_task

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codemode.bench.suite import Episode, Suite, Task
    from codemode.service import CodeMode


class IdlePlayer:
    """A player that does nothing, and answers with an empty text."""

    model = "idle"
    mode = "code"

    async def answer(
        self, service: CodeMode, task: Task, episode: Episode, index: int, before: Sequence[TurnRecord]
    ) -> TurnRecord:
        """Return an empty answer."""
        return TurnRecord(task.messages[index], "")


async def content_with_nothing(suite: Suite) -> list[str]:
    """Return the tasks of a suite that an idle player solves."""
    player = IdlePlayer()
    return [task.id for task in suite.tasks() if (await run_task(suite.name, task, player)).solved]


def main() -> None:
    """Print the tasks of each suite."""
    for name in sys.argv[1:]:
        suite = suite_of(name)
        found = asyncio.run(content_with_nothing(suite))
        print(
            f"{suite.name}: {len(found)} of {len(suite.tasks())} tasks are solved by doing nothing", *found, sep="\n  "
        )


if __name__ == "__main__":
    main()
