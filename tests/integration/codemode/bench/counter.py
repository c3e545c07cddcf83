"""A task of two turns on a counter."""

from __future__ import annotations

from codemode.bench.suite import Episode, Run, Task, Verdict


def counter() -> Task:
    def begin() -> Episode:
        values: list[int] = []

        def add(number: int) -> int:
            """Add to the counter."""
            values.append(number)
            return sum(values)

        async def judge(run: Run) -> Verdict:
            return Verdict(sum(values) == 2 and len(run.calls) == 2 and run.answer == "now 1\nnow 2", str(values))

        return Episode(judge, gold=["counter.add(number=1)"] * 2, tools={"counter": [add]})

    return Task("count", ["add one", "again"], begin, "Count well.")
