"""Errors as a person at a terminal meets them: a sentence and an exit code, never a traceback."""

from __future__ import annotations

import pytest
import typer

from codemode.errors import ConfigurationError, SourceError, ToolNotFound
from codemode.serving.surface import errors_as_exit_codes
from sandbox import SandboxError


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (SourceError("not YAML", location="api.yaml"), 3, "api.yaml: not YAML"),
        (ConfigurationError("no such key"), 2, "no such key"),
        (ToolNotFound("a.b"), 2, "a.b"),
        (SandboxError("no seccomp"), 4, "no seccomp"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (RecursionError("x" * 10_000), 70, "a mistake in codemode itself: RecursionError at test_surface.py:"),
    ],
)
def test_an_error_is_a_sentence_and_an_exit_code(
    error: BaseException, code: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(typer.Exit) as exit_, errors_as_exit_codes():
        raise error
    assert exit_.value.exit_code == code
    shown = capsys.readouterr().err
    assert said in shown
    assert "Traceback" not in shown
    assert len(shown) < 200


def test_an_exit_code_of_the_work_passes() -> None:
    with pytest.raises(typer.Exit) as exit_, errors_as_exit_codes():
        raise typer.Exit(1)
    assert exit_.value.exit_code == 1
