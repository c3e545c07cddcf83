from __future__ import annotations

import pytest

from codemode.serving.cli.markdown import complete_blocks


@pytest.mark.parametrize(
    ("text", "blocks", "rest"),
    [
        ("", [], ""),
        ("a\nb", [], "a\nb"),
        ("a\n\n", [], "a\n\n"),  # what follows may belong to it
        ("a\n\nb", ["a"], "b"),
        ("a\n \n\nb\n\nc", ["a", "b"], "c"),
        ("- a\n\n  more of a\n\nb", ["- a\n\n  more of a"], "b"),
        ("```\nx\n\ny\n```\n\nb", ["```\nx\n\ny\n```"], "b"),
        ("```\nx\n\ny", [], "```\nx\n\ny"),
        ("a\n\n~~~\nx\n\ny", ["a"], "~~~\nx\n\ny"),
    ],
)
def test_blocks_are_complete_when_another_begins(text: str, blocks: list[str], rest: str) -> None:
    assert complete_blocks(text) == (blocks, rest)
