from __future__ import annotations

from typing import Any

import pytest

from codemode.model.json_arguments import Malformed, read_text


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ('{"code": "print("a")"}', 'print("a")'),
        ('{"code": "a = 1\\nprint("b\\\\n")"}', 'a = 1\nprint("b\\n")'),
        ('{"code": """a = 1\nprint("a")"""}', 'a = 1\nprint("a")'),
        ("{\"code\": '''a = \"1\"\na'''}", 'a = "1"\na'),
        ('{"code": `a = "1"`}', 'a = "1"'),
        ("a = 1", "a = 1"),
    ],
)
def test_a_program_with_wrong_quotes_is_understood(text: str, code: str) -> None:
    assert read_text("execute", text) == {"code": code}


@pytest.mark.parametrize(
    ("text", "given"),
    [('["a", "b"]', ["a", "b"]), ('"a"', "a"), ("list clients", "list clients"), ('{"queries": ["a', None), ("7", 7)],
)
def test_what_could_be_read_is_kept_for_a_correction(text: str, given: Any) -> None:
    with pytest.raises(Malformed) as raised:
        read_text("search", text)
    assert raised.value.given == given
