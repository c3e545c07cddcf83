"""Results of tasks as JSON lines: each is written when its task ends, so that a run can be continued."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from codemode.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


#: What tells two attempts apart: suite, task, model, mode, policy, repeat.
Key = tuple[str, str, str, str, str, int]

#: What becomes of destructive calls: `off` allows them, `ask` withholds them.
Policy = Literal["off", "ask"]


@dataclass(frozen=True, slots=True)
class Step:
    """A program of a turn, as the transcript shows it. `calls` are lines of its ledger."""

    program: str
    status: str
    value: Any = None
    error: str = ""
    calls: Sequence[str] = ()
    duration_s: float = 0.0


@dataclass(frozen=True, slots=True)
class TurnRecord:
    """A user message and what it led to. Tokens are those of the model's requests; gold turns have none."""

    message: str
    answer: str
    steps: Sequence[Step] = ()
    status: str = "completed"
    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    duration_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Result:
    """How one attempt at a task ended.

    `tools` is the number of tools. `definitions` are the tokens of the definitions in every request, `traces` those of
    the whole conversation, both by mode (`native`, `code`); see `codemode.bench.tokens`.
    """

    suite: str
    task: str
    model: str
    mode: str
    policy: str
    solved: bool
    reason: str
    turns: Sequence[TurnRecord]
    details: dict[str, Any] = field(default_factory=dict)
    repeat: int = 0
    tools: int = 0
    calls: int = 0
    definitions: dict[str, int] = field(default_factory=dict)
    traces: dict[str, int] = field(default_factory=dict)
    duration_s: float = 0.0

    @property
    def key(self) -> Key:
        """What tells two attempts apart."""
        return (self.suite, self.task, self.model, self.mode, self.policy, self.repeat)

    @property
    def tokens(self) -> int:
        """Input and output tokens of the model."""
        return sum(turn.input_tokens + turn.output_tokens for turn in self.turns)

    def to_line(self) -> str:
        """Return the result as one line of JSON."""
        return json.dumps(asdict(self), ensure_ascii=False, default=str)


def read_results(file: Path) -> list[Result]:
    """Read the results in a file; none if there is no file. An unfinished last line is ignored.

    Raises ConfigurationError, with the number of the line that is not a result.
    """
    if not file.exists():
        return []
    lines = file.read_text(encoding="utf-8").split("\n")
    return [_read(line, file, number) for number, line in enumerate(lines[:-1], 1) if line.strip()]


def _read(line: str, file: Path, number: int) -> Result:
    try:
        found = json.loads(line)
        turns = [TurnRecord(**{**one, "steps": [Step(**step) for step in one["steps"]]}) for one in found.pop("turns")]
        return Result(**found, turns=turns)
    except (ValueError, KeyError, TypeError) as error:
        message = f"{file}:{number}: not a result of codemode bench: {error}"
        raise ConfigurationError(message) from None


def drop_unfinished_line(file: Path) -> None:
    """Cut a last line that an interruption left without its end."""
    if not file.exists():
        return
    content = file.read_bytes()
    end = content.rfind(b"\n") + 1
    if end < len(content):
        file.write_bytes(content[:end])
