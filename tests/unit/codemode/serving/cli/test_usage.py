from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from codemode.serving.cli.main import app
from codemode.serving.cli.usage import wants_json, with_nearest


def test_a_rejected_choice_names_the_nearest() -> None:
    said = "'complete' is not one of completed, failed; did you mean 'completed'?"
    assert with_nearest("'complete' is not one of 'completed', 'failed'.") == said  # as click words it
    assert with_nearest("Value error, 'complete' is not one of 'completed', 'failed'.") == said  # as pydantic does
    assert with_nearest("'zzz' is not one of 'completed'.") == "'zzz' is not one of completed"
    assert with_nearest("another message") == "another message"


def test_json_is_an_option_before_the_arguments_end() -> None:
    assert wants_json(["call", "--json", "x"])
    assert not wants_json(["sources", "add", "x", "npx", "--", "--json"])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("serch x", "No such command 'serch'. Did you mean 'search'"),
        ("executions lst", "Did you mean 'list'?"),
        ("executions list --statu paused", "--status"),
        ("executions list --status pausd", "expired; did you mean 'paused'?"),
        ("executions decide x commited", "send_again; did you mean 'committed'?"),
        ("chat --mode cod", "auto; did you mean 'code'?"),
        ("mcp install curser", "opencode; did you mean 'cursor'?"),
        ("search x --effect reed", "destructive; did you mean 'read'?"),
    ],
)
def test_what_was_mistyped_is_named_with_the_nearest(words: str, said: str) -> None:
    ended = CliRunner().invoke(app, words.split(), env={"COLUMNS": "400"})
    assert ended.exit_code == 2
    assert said in ended.stderr
    ended = CliRunner().invoke(app, [*words.split(), "--json"])
    error = json.loads(ended.stderr)["error"]
    assert (ended.exit_code, error["exit_code"], error["code"]) == (2, 2, "usage_invalid")
    assert said in error["message"]
