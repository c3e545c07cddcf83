"""Attempts as JSON lines, written as each task ends, so that an interrupted evaluation can be continued."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

from pydantic import TypeAdapter, ValidationError

from codemode.errors import ConfigurationError
from codemode.serving.agent.evaluation import Attempt

if TYPE_CHECKING:
    from pathlib import Path

_ATTEMPT = TypeAdapter(Attempt)


class AttemptFile:
    """A file with one attempt per line: the fields of `Attempt`, with `model` and the `asked` mode."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def earlier(self, model: str, mode: str) -> dict[str, Attempt]:
        """Return the attempts of a model in a mode by task. Tasks for which the model was unreachable are left out.

        A last line that an interruption cut off is removed. Raises ConfigurationError if another line is no attempt.
        """
        if not self._file.exists():
            return {}
        text = self._file.read_text(encoding="utf-8")
        whole, newline, _ = text.rpartition("\n")
        if len(whole) + len(newline) < len(text):
            self._file.write_text(whole + newline, encoding="utf-8")
        found = {}
        for number, line in enumerate(whole.splitlines(), 1):
            attempt = self._read(line, number, model, mode)
            if attempt is not None and attempt.status != "unreachable":
                found[attempt.task] = attempt
        return found

    def append(self, attempt: Attempt, model: str, mode: str) -> None:
        """Write an attempt at the end of the file."""
        line = json.dumps({"model": model, "asked": mode, **asdict(attempt)}, ensure_ascii=False)
        with self._file.open("a", encoding="utf-8") as lines:
            lines.write(f"{line}\n")

    def _read(self, line: str, number: int, model: str, mode: str) -> Attempt | None:
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
