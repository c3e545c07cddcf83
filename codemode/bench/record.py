"""Record the answers of a model in a run, and replay them without the model.

A recording has one line of JSON for each request: the attempt, the number of the request in it, the request's
fingerprint, and the answer. A fingerprint leaves out the parts at its start that the previous request had too (`same`).
A recording has no text of the suite but what the model repeats.
"""

from __future__ import annotations

import json
from collections import defaultdict, deque
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from codemode.bench.fingerprints import RandomIds, difference, fingerprint, shared
from codemode.bench.results import text_of
from codemode.errors import ConfigurationError
from codemode.serving.agent.models import ModelUnreachable
from codemode.serving.agent.transcript import ModelAnswer, TokenUsage, ToolRequest
from codemode.serving.line_file import LineFile

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Sequence
    from pathlib import Path

    from codemode.bench.results import Key
    from codemode.serving.agent.models import Model, ModelRequest

#: Names of the values in the key of an attempt.
_KEY = ("suite", "task", "model", "mode", "policy", "repeat")


class ReplayMismatch(ConfigurationError):
    """A request of a replayed run is not in the recording."""


class Models(Protocol):
    """Returns the model of each attempt."""

    def model_of(self, key: Key) -> Model:
        """Return the model for the attempt with this key."""
        ...


class ModelRecorder:
    """Appends the answers of a model to a file. Raises ConfigurationError and OSError, as `LineFile` does."""

    def __init__(self, file: Path, model: Model) -> None:
        self._lines = LineFile(file)
        self._model = model

    def model_of(self, key: Key) -> Model:
        """Return the model for the attempt with this key."""
        return _RecordedModel(self, self._model, key)

    def write(self, line: dict[str, Any]) -> None:
        """Append a line."""
        self._lines.append(json.dumps(line, ensure_ascii=False))

    def close(self) -> None:
        """Close the file."""
        self._lines.close()


class _RecordedModel:
    """The model of one attempt."""

    def __init__(self, recorder: ModelRecorder, model: Model, key: Key) -> None:
        self._recorder = recorder
        self._model = model
        self._key = dict(zip(_KEY, key, strict=True))
        self._ids = RandomIds()
        self._number = 0
        self._before: list[str] = []

    async def ask(self, request: ModelRequest) -> AsyncIterator[str | ModelAnswer]:
        """Ask once. Raises ModelUnreachable."""
        parts = fingerprint(request, self._ids)
        same = shared(parts, self._before)
        line = {**self._key, "number": self._number, "same": same, "request": parts[same:]}
        self._number += 1
        self._before = parts
        try:
            async for piece in self._model.ask(request):
                if isinstance(piece, ModelAnswer):
                    self._recorder.write({**line, "answer": _written(piece, self._ids)})
                yield piece
        except ModelUnreachable as error:
            self._recorder.write({**line, "error": str(error)})
            raise


class _Turn(NamedTuple):
    """A recorded request with its answer, or with the error of the provider."""

    number: int
    request: Sequence[str]
    answer: dict[str, Any] | None
    error: str


class ModelReplay:
    """Answers requests from a recording. Raises ConfigurationError if the file is no recording."""

    def __init__(self, file: Path) -> None:
        if not file.exists():
            message = f"there is no recording {file}: `codemode measure SUITE --model NAME --record {file}` writes it"
            raise ConfigurationError(message)
        self._file = file
        self._attempts: dict[Key, list[_Turn]] = {}
        for number, line in enumerate(text_of(file).split("\n")[:-1], 1):
            self._read(line, number)

    def _read(self, line: str, number: int) -> None:
        try:
            found = json.loads(line)
            suite, task, model, mode, policy, repeat = (found[name] for name in _KEY)
            turns = self._attempts.setdefault((suite, task, model, mode, policy, repeat), [])
            if found["number"] == 0:  # an attempt that was interrupted was made again
                turns.clear()
            before = turns[-1].request if turns else []
            request = [*before[: found["same"]], *found["request"]]
            turns.append(_Turn(found["number"], request, found.get("answer"), found.get("error", "")))
        except (ValueError, KeyError, TypeError) as error:
            message = f"{self._file}:{number}: not a line of a recording: {error}"
            raise ConfigurationError(message) from None

    def model_of(self, key: Key) -> Model:
        """Return the model for the attempt with this key. Raises ReplayMismatch."""
        if key not in self._attempts:
            raise ReplayMismatch(self._unknown(key))
        return _ReplayedModel(key, self._attempts[key], self._file)

    def _unknown(self, key: Key) -> str:
        named = ", ".join(f"{name} {value}" for name, value in zip(_KEY, key, strict=True))
        if not self._attempts:
            return f"{self._file} has no turn: record a run first"
        nearest = max(self._attempts, key=lambda one: sum(map(_is_same, one, key)))
        unlike = [f"{name} {value}" for name, value, asked in zip(_KEY, nearest, key, strict=True) if value != asked]
        return f"{self._file} has no attempt with {named}. The nearest attempt in it has {', '.join(unlike)}"


def _is_same(one: object, other: object) -> bool:
    return one == other


class _ReplayedModel:
    """The recorded answers of one attempt. The same request gets its answers in the order of the recording."""

    def __init__(self, key: Key, turns: Sequence[_Turn], file: Path) -> None:
        self._key = key
        self._turns = turns
        self._file = file
        self._ids = RandomIds()
        self._left: dict[tuple[str, ...], deque[_Turn]] = defaultdict(deque)
        for turn in turns:
            self._left[tuple(turn.request)].append(turn)
        self._number = 0

    async def ask(self, request: ModelRequest) -> AsyncIterator[str | ModelAnswer]:
        """Answer as recorded. Raises ModelUnreachable if the provider could not be reached, and ReplayMismatch."""
        asked = fingerprint(request, self._ids)
        left = self._left.get(tuple(asked))
        if not left:
            raise ReplayMismatch(self._mismatch(asked))
        self._number += 1
        turn = left.popleft()
        if turn.answer is None:
            raise ModelUnreachable(turn.error)
        answer = _answer(turn.answer, self._ids)
        yield answer.text
        yield answer

    def _mismatch(self, asked: Sequence[str]) -> str:
        suite, task, _, mode, _, repeat = self._key
        where = f"{suite} {task} (mode {mode}, repeat {repeat}): request {self._number + 1} is not in {self._file}"
        times = sum(list(turn.request) == list(asked) for turn in self._turns)
        if times:
            return f"{where}: it was recorded {times} times, and is asked once more"
        nearest = max(self._turns, key=lambda turn: (shared(asked, turn.request), -abs(turn.number - self._number)))
        unlike = difference(asked, nearest.request)
        return (
            f"{where}. Compared with request {nearest.number + 1} of the recording, {unlike}. "
            "The suite, its tools or codemode differ from those of the recording: replay with the recorded versions, "
            "or record again"
        )


def _written(answer: ModelAnswer, ids: RandomIds) -> dict[str, Any]:
    return {
        "text": ids.numbered(answer.text),
        "calls": [asdict(replace(call, arguments=ids.numbered(call.arguments))) for call in answer.calls],
        "finish": answer.finish,
        "refusal": answer.refusal,
        "usage": None if answer.usage is None else asdict(answer.usage),
    }


def _answer(found: dict[str, Any], ids: RandomIds) -> ModelAnswer:
    return ModelAnswer(
        text=ids.restored(found["text"]),
        calls=tuple(_calls(found["calls"], ids)),
        finish=found["finish"],
        refusal=found["refusal"],
        usage=None if found["usage"] is None else TokenUsage(**found["usage"]),
    )


def _calls(found: Iterable[dict[str, str]], ids: RandomIds) -> Iterable[ToolRequest]:
    return (ToolRequest(one["id"], one["name"], ids.restored(one["arguments"])) for one in found)
