"""The table of error codes is whole: every code that the source has stands in it, and no other."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from codemode.errors import CodeModeError
from codemode.serving.agent import ModelUnreachable

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]


def codes_of(error: type[CodeModeError]) -> Iterator[str]:
    yield error.code
    for more in error.__subclasses__():
        yield from codes_of(more)


def test_every_code_stands_in_the_table_once() -> None:
    table = re.findall(r"^\| `(\w+)` \|", (ROOT / "docs" / "errors.md").read_text(encoding="utf-8"), re.MULTILINE)
    serving = "".join(file.read_text(encoding="utf-8") for file in (ROOT / "codemode" / "serving").glob("*.py"))
    answered = set(re.findall(r'\bproblem\(\s*\d+, "(\w+)"', serving))
    answered |= set(re.findall(r'\b\d{3}: "(\w+)"', serving))
    assert len(answered) > 8
    assert issubclass(ModelUnreachable, CodeModeError), "what stands outside of errors.py is known once it is imported"
    assert sorted(table) == sorted({*codes_of(CodeModeError), *answered})
