"""Attempts as JSON lines, written as each task ends, so that an interrupted evaluation can be continued."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Self

from pydantic import TypeAdapter, ValidationError

from codemode.errors import ConfigurationError
from codemode.serving.agent.evaluation import Attempt
from codemode.serving.line_file import LineFile

if TYPE_CHECKING:
    from pathlib import Path

_ATTEMPT = TypeAdapter(Attempt)


class AttemptFile:
    """A file with one attempt per line: the fields of `Attempt`, with `model` and the `asked` mode.

    Raises ConfigurationError and OSError, as `LineFile` does.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._lines = LineFile(file)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._lines.close()

    def earlier(self, model: str, mode: str) -> dict[str, Attempt]:
        """Return the attempts of a model in a mode by task. Tasks for which the model was unreachable are left out.

        Raises ConfigurationError if a line is no attempt.
        """
        lines = self._file.read_bytes().split(b"\n")
        found = {}
        for number, line in enumerate(lines[:-1], 1):
            attempt = self._read(line, number, model, mode)
            if attempt is not None and attempt.status != "unreachable":
                found[attempt.task] = attempt
        return found

    def append(self, attempt: Attempt, model: str, mode: str) -> None:
        """Write an attempt at the end of the file."""
        self._lines.append(json.dumps({"model": model, "asked": mode, **asdict(attempt)}, ensure_ascii=False))

    def _read(self, line: bytes, number: int, model: str, mode: str) -> Attempt | None:
        """Return the attempt of a line, None if it belongs to another model or mode."""
        try:
            given = json.loads(line)
            if (given.pop("model"), given.pop("asked")) != (model, mode):
                return None
            return _ATTEMPT.validate_python(given)
        except (ValueError, ValidationError, KeyError, AttributeError, TypeError):
            message = (
                f"{self._file}, line {number}: not an attempt of `codemode eval`; choose another file for --results"
            )
            raise ConfigurationError(message) from None
