"""The file of a saved program: its header, and what is wrong with one."""

from __future__ import annotations

import pytest

from codemode.catalog.saved import SavedProgram
from codemode.catalog.tool import Effect
from codemode.executions.types.saving_errors import SavedProgramInvalid
from codemode.features.saved.file import body_of, parse, render

PROGRAM = SavedProgram(
    name="absent",
    description="Return who has not come.\nNames: ≤ 100, “quoted”.",
    code="",
    effect=Effect.WRITE,
    tools=("gym.list", "gym.mail"),
    parameters={"days": {"type": "integer", "default": None}, "text": {"type": "string"}},
    returns={"type": "array"},
    roles=("desk",),
    version=3,
    saved_by="ann",
    saved_at="2026-11-26T03:00:00.000Z",
    execution="ex_1",
)
BODY = "x = gym.list(days=days)\n\nx"


def test_a_file_is_read_as_it_was_written() -> None:
    text = render(PROGRAM, f"\n{BODY}\n\n")
    read = parse("absent", text)
    assert read == SavedProgram(**{name: getattr(PROGRAM, name) for name in PROGRAM.__slots__} | {"code": text})
    assert body_of(read) == f"{BODY}\n"
    assert read.defaults == {"days": None}


def test_the_header_reads_like_a_comment_and_leaves_out_what_is_empty() -> None:
    small = SavedProgram("one", "Return one.", "", Effect.READ, saved_at="2026-11-26T03:00:00.000Z")
    assert render(small, "1") == (
        "# /// codemode\n# description: Return one.\n# version: 1\n# effect: read\n"
        "# saved_at: '2026-11-26T03:00:00.000Z'\n# ///\n1\n"
    )


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("1", "one.py has no header: its first line is `# /// codemode`, and `# ///` ends the block"),
        ("# /// codemode\nx = 1\n# ///\n1", "line 2: the header has comment lines only"),
        ("# /// codemode\n# a: [\n# ///\n1", "the header is not YAML: line 3"),
        ("# /// codemode\n# effect: read\n# ///\n1", "description: required argument is missing"),
        ("# /// codemode\n# description: x\n# effect: sometimes\n# ///\n1", "effect: Input should be 'read', 'write'"),
        ("# /// codemode\n# description: x\n# effect: read\n# parameters: {a b: {}}\n# ///\n1", "'a b' is not a var"),
        ("# /// codemode\n# description: x\n# effect: read\n# parameters: {a: {type: no}}\n# ///\n1", "not a JSON Sch"),
    ],
)
def test_a_wrong_header_is_rejected_with_its_reason(text: str, reason: str) -> None:
    with pytest.raises(SavedProgramInvalid) as rejected:
        parse("one", text)
    assert reason in str(rejected.value)


def test_a_name_that_no_program_could_call_is_rejected() -> None:
    with pytest.raises(SavedProgramInvalid, match="such as weekly_report"):
        parse("Weekly-Report", "1")
