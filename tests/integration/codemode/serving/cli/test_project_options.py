"""Errors as a person at a terminal meets them: a sentence and an exit code, never a traceback."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import typer

from codemode.errors import ConfigurationError, SourceError, ToolNotFound
from codemode.serving.cli.project_options import ProjectOptions
from codemode.serving.output.exit_codes import errors_as_exit_codes
from sandbox import SandboxError


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (SourceError("not YAML", location="api.yaml"), 3, "api.yaml: not YAML"),
        (ConfigurationError("no such key"), 2, "no such key"),
        (ToolNotFound("a.b"), 2, "a.b"),
        (SandboxError("no seccomp"), 4, "no seccomp"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (OSError(28, "No space left on device"), 74, "the output cannot be read or written: No space left"),
        (PermissionError(13, "Permission denied", "/x"), 74, "/x cannot be read or written: Permission denied"),
        (RecursionError("x" * 10_000), 70, "internal error in codemode: RecursionError at test_project_options.py:"),
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


def test_a_file_and_one_document_are_not_named_together() -> None:
    with pytest.raises(ConfigurationError, match="--config and --source exclude each other"):
        ProjectOptions(config=Path("mine.yaml"), source="api.json").settings()


def test_an_exit_code_of_the_work_passes() -> None:
    with pytest.raises(typer.Exit) as exit_, errors_as_exit_codes():
        raise typer.Exit(1)
    assert exit_.value.exit_code == 1


INTERRUPTED = """
import sys
from codemode.serving.cli.command import main

class Interrupting:
    def find_spec(self, name, *_):
        if name == "codemode.serving.cli.main":
            raise KeyboardInterrupt

sys.meta_path.insert(0, Interrupting())
main()
"""


def test_a_command_that_is_interrupted_while_it_loads_says_so_without_a_traceback() -> None:
    ended = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (130, "", "interrupted\n")
