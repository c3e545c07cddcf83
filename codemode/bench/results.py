"""Results of tasks as JSON lines: each is written when its task ends, so that a run can be continued."""

from __future__ import annotations

import json
import lzma
from dataclasses import MISSING, dataclass, field, fields
from typing import TYPE_CHECKING, Any, Literal

from codemode.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


#: What tells two attempts apart: suite, task, model, mode, policy, repeat.
Key = tuple[str, str, str, str, str, int]

#: What the access policy does with destructive calls: `configured` leaves it as it is, `off` allows them, `ask` leaves
#: them to a person, `deny` hides their tools. `ask-writes` and `deny-writes` do so with all calls but reads. `flow`
#: allows them, unless the rules on data flow ask a person.
Policy = Literal["configured", "off", "ask", "deny", "ask-writes", "deny-writes", "flow"]


@dataclass(frozen=True, slots=True)
class Step:
    """A call of the model in a turn: a program, a search, or a native tool.

    `program` is the program, or the call as text. `calls` are lines of its ledger. `refusals` are the rules that
    refused the program before anything was sent, and `held` is the number of tool calls written in it.
    """

    program: str = ""
    status: str = "completed"
    value: Any = None
    error: str = ""
    calls: Sequence[str] = ()
    duration_s: float = 0.0
    name: str = "execute"
    refusals: Sequence[str] = ()
    held: int = 0


@dataclass(frozen=True, slots=True)
class TurnRecord:
    """A user message and what it led to. Tokens are those of the model's requests; gold turns have none.

    `model_s` and `tools_s` are the parts of `duration_s` that passed while the model answered, and while calls ran.
    """

    message: str = ""
    answer: str = ""
    steps: Sequence[Step] = ()
    status: str = "completed"
    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    duration_s: float = 0.0
    model_s: float = 0.0
    tools_s: float = 0.0

    @property
    def fault(self) -> str:
        """How and why the turn did not complete, or ""."""
        if self.status == "completed":
            return ""
        return f"{self.status}: {next((step.error for step in self.steps if step.error), self.answer[:200])}"


@dataclass(frozen=True, slots=True)
class Result:
    """How one attempt at a task ended.

    - `tools`: the number of tools. `calls`: the number of calls that reached one.
    - `definitions`: tokens of the definitions in one request, by mode (`native`, `menu`, `code`).
    - `traces`: tokens of all requests of the conversation, by mode (`native`, `code`). `traces_cached` is the part that
      repeats the request before, and `traces_output` the part that a model would write. See `codemode.bench.tokens`.
    - `about`: how the result came about: date, versions, commit, settings of the model.
    """

    suite: str
    task: str
    model: str
    mode: str
    policy: str
    solved: bool
    reason: str = ""
    turns: Sequence[TurnRecord] = ()
    details: dict[str, Any] = field(default_factory=dict)
    repeat: int = 0
    tools: int = 0
    calls: int = 0
    definitions: dict[str, int] = field(default_factory=dict)
    traces: dict[str, int] = field(default_factory=dict)
    traces_cached: dict[str, int] = field(default_factory=dict)
    traces_output: dict[str, int] = field(default_factory=dict)
    duration_s: float = 0.0
    about: dict[str, str] = field(default_factory=dict)

    @property
    def key(self) -> Key:
        """What tells two attempts apart."""
        return (self.suite, self.task, self.model, self.mode, self.policy, self.repeat)

    @property
    def tokens(self) -> int:
        """Input and output tokens of the model."""
        return sum(turn.input_tokens + turn.output_tokens for turn in self.turns)

    @property
    def steps(self) -> list[Step]:
        """The calls of the model in all turns."""
        return [step for turn in self.turns for step in turn.steps]

    @property
    def fault(self) -> str:
        """How and why the first turn that did not complete ended, or ""."""
        return next(filter(None, (turn.fault for turn in self.turns)), "")

    @property
    def is_unreachable(self) -> bool:
        """Whether the model could not be reached in a turn, so that the attempt says nothing about it."""
        return any(turn.status == "unreachable" for turn in self.turns)

    @property
    def is_silently_wrong(self) -> bool:
        """Whether the task is not solved although every turn and every step completed."""
        statuses = {*(turn.status for turn in self.turns), *(step.status for step in self.steps)}
        return not self.solved and statuses == {"completed"}

    def to_line(self) -> str:
        """Return the result as one line of JSON, without the fields that have their default."""
        return json.dumps(_without_defaults(self), ensure_ascii=False, default=_without_defaults)


def _without_defaults(value: Any) -> Any:
    """Return a record as a dictionary; other values that JSON lacks as text."""
    if not isinstance(value, (Result, TurnRecord, Step)):
        return str(value)
    found = {}
    for one in fields(value):
        default = one.default if one.default_factory is MISSING else one.default_factory()
        content = getattr(value, one.name)
        if content != default:
            found[one.name] = content
    return found


def read_results(file: Path) -> list[Result]:
    """Read the results in a file; none if there is no file. An unfinished last line is ignored.

    Raises ConfigurationError, with the number of the line that is not a result.
    """
    if not file.exists():
        return []
    lines = text_of(file).split("\n")
    return [_read(line, file, number) for number, line in enumerate(lines[:-1], 1) if line.strip()]


def read_all(files: Sequence[Path]) -> list[Result]:
    """Read the results in several files. Raises ConfigurationError if one is missing, or an attempt is there twice."""
    found: dict[Key, Path] = {}
    results = []
    for file in files:
        if not file.exists():
            message = f"there is no file {file}: `codemode measure SUITE --out {file}` writes it"
            raise ConfigurationError(message)
        for result in read_results(file):
            if (other := found.get(result.key)) is not None:
                where = f"{file} and {other} both have" if other != file else f"{file} has twice"
                message = f"{where} an attempt of {_named(result)}: report each run apart"
                raise ConfigurationError(message)
            found[result.key] = file
            results.append(result)
    return results


def _named(result: Result) -> str:
    return (
        f"{result.suite} {result.task} (model {result.model}, mode {result.mode}, policy {result.policy}, "
        f"repeat {result.repeat})"
    )


def text_of(file: Path) -> str:
    """Return the text of a file, decompressed if its name ends in `.xz`. Raises ConfigurationError and OSError."""
    content = file.read_bytes()
    try:
        return (lzma.decompress(content) if file.suffix == ".xz" else content).decode()
    except lzma.LZMAError as error:
        message = f"{file}: not a file compressed with xz: {error}"
    except UnicodeDecodeError as error:
        message = f"{file}: not a text in UTF-8: {error}"
    raise ConfigurationError(message)


def _read(line: str, file: Path, number: int) -> Result:
    try:
        found = json.loads(line)
        return Result(**{**found, "turns": [_turn(one) for one in found.get("turns", ())]})
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        message = f"{file}:{number}: not a result of `codemode measure`: {error}"
        raise ConfigurationError(message) from None


def _turn(found: dict[str, Any]) -> TurnRecord:
    steps = {"steps": [Step(**step) for step in found["steps"]]} if "steps" in found else {}
    return TurnRecord(**{**found, **steps})
