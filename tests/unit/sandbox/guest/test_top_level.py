"""The compiler's half of the language, by what it makes of a program."""

from __future__ import annotations

import dis

from sandbox.guest.language.compilation import compile_program

LOOP = """
'''A text.'''
rows: list = []
total = 0
for n in range(3):
    total += len(rows) + n
    print(total)
"""


#: Names with annotations cannot be declared.
_OF_ANNOTATIONS = {"__annotations__", "__conditional_annotations__"}


def test_loops_at_the_top_level_find_their_names_without_a_search() -> None:
    program = compile_program(LOOP, names=[], limit_bytes=10_000, limit_depth=100)

    assert program.code is not None
    searched = {step.argval for step in dis.get_instructions(program.code) if step.opname == "LOAD_NAME"}
    assert searched <= {"rows", "list", *_OF_ANNOTATIONS}
