"""What reads ahead of the model would save: `python -m benchmarks.speculative_reads programs.jsonl`.

A model streams a program. A read with literal arguments could be sent as soon as its text is complete, and would run
while the model writes the rest. This estimates from recorded programs (one JSON object a line, with `code`, and with
`operations` by name with their `method`) how often a program begins with such a read, and how much time it would save.

It is an upper bound: reads in branches and functions count as if the program were certain to make them.
"""

from __future__ import annotations

import argparse
import ast
import json
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from codemode.catalog.tokens import estimate

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

#: Output of a fast model, in tokens per second, and the time of a read at a service, in seconds.
TOKENS_PER_S = 50
READS_S = (0.05, 0.2, 1.0)

_REPEATED = (ast.For, ast.AsyncFor, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Lambda)


@dataclass(frozen=True)
class Program:
    """A program: the seconds to write it, those left after each leading read, and the number of its calls."""

    writing_s: float
    left_s: tuple[float, ...]
    calls: int


def program_of(code: str, operations: Mapping[str, Mapping[str, Any]]) -> Program | None:
    """Return the leading reads of a program, None if it is not Python or calls nothing."""
    try:
        tree = ast.parse(code)
    except SyntaxError:
        return None
    repeated = {id(inner) for outer in ast.walk(tree) if isinstance(outer, _REPEATED) for inner in ast.walk(outer)}
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func) in operations]
    calls.sort(key=lambda call: (call.end_lineno or 0, call.end_col_offset or 0))
    lines = code.splitlines(keepends=True)
    left = []
    for call in calls:
        is_read = operations[ast.unparse(call.func)]["method"].upper() == "GET"
        if not is_read or id(call) in repeated or not _are_literal(call):
            break
        end = sum(map(len, lines[: (call.end_lineno or 1) - 1])) + (call.end_col_offset or 0)
        left.append(estimate(code[end:]) / TOKENS_PER_S)
    return Program(estimate(code) / TOKENS_PER_S, tuple(left), len(calls)) if calls else None


def _are_literal(call: ast.Call) -> bool:
    try:
        for value in (*call.args, *(keyword.value for keyword in call.keywords)):
            ast.literal_eval(value)
    except ValueError:
        return False
    return True


def report(programs: Iterable[Program]) -> None:
    """Print the shares and the time saved."""
    found = list(programs)
    leading = [program for program in found if program.left_s]
    print(f"programs that call tools: {len(found)}")
    print(f"that begin with a read with literal arguments: {len(leading) / len(found):.0%}")
    print(f"median seconds to write a program at {TOKENS_PER_S} tokens/s: {median(p.writing_s for p in found):.1f}")
    print(f"median seconds left after its first such read: {median(p.left_s[0] for p in leading):.1f}")
    for read_s in READS_S:  # reads that are sent one after another, as most programs write them
        saved = [sum(min(read_s, left) for left in program.left_s) for program in found]
        share = sum(saved) / sum(p.writing_s + p.calls * read_s for p in found)
        print(f"a read of {read_s:g} s: saves {sum(saved) / len(found):.2f} s of a turn on average ({share:.1%})")


def main() -> None:
    """Read the programs and print the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("programs", type=Path, help="recorded programs, one JSON object a line")
    lines = parser.parse_args().programs.read_text(encoding="utf-8").splitlines()
    records = [record for record in map(json.loads, lines) if "expect_error" not in record]
    found = (program_of(record["code"], record["operations"]) for record in records)
    report(program for program in found if program is not None)


if __name__ == "__main__":
    main()
