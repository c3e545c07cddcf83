"""What patterns read by position is a tuple of plain names that stands in the body of its class."""

from __future__ import annotations

import pytest

from sandbox.guest.language.compilation import compile_program


def rules(code: str) -> set[str]:
    program = compile_program(code, names=[], limit_bytes=1_000, limit_depth=60)
    return {refusal.rule for refusal in program.refusals}


@pytest.mark.parametrize(
    "code",
    [
        "class A:\n    __match_args__ = ('x', 'y')",
        "class A:\n    __match_args__ = ('x',)\n    class B:\n        __match_args__ = ('y',)",
    ],
)
def test_plain_names_are_read(code: str) -> None:
    assert rules(code) == set()


@pytest.mark.parametrize(
    "code",
    [
        "class A:\n    __match_args__ = ('gi_frame',)",
        "class A:\n    __match_args__ = tuple('xy')",
        "class A:\n    __match_args__, x = ('x',), 1",
        "class A:\n    for __match_args__ in []: pass",
        "class A:\n    class B((__match_args__ := object)): pass",
    ],
)
def test_others_are_refused(code: str) -> None:
    assert rules(code) & {"pattern", "dunder", "name"}
