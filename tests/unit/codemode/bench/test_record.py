"""Answers of a model are recorded for each attempt, and replayed to the same requests."""

from __future__ import annotations

import json
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from codemode.bench.record import ModelRecorder, ModelReplay, ReplayMismatch
from codemode.errors import ConfigurationError
from codemode.serving.agent.models import Model, ModelRequest, ModelUnreachable
from codemode.serving.agent.transcript import (
    AssistantMessage,
    ModelAnswer,
    TokenUsage,
    ToolMessage,
    ToolRequest,
    UserMessage,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from codemode.bench.results import Key
    from codemode.serving.agent.transcript import Message

KEY: Key = ("shop", "a", "m", "code", "off", 0)
OTHER: Key = ("shop", "a", "m", "code", "off", 1)
SEARCH = {"type": "function", "function": {"name": "search", "description": "Search.", "parameters": {}}}


class Scripted:
    """A model that gives these answers in order, and raises those that are errors."""

    def __init__(self, *answers: ModelAnswer | ModelUnreachable) -> None:
        self._answers = list(answers)

    async def ask(self, request: ModelRequest) -> AsyncIterator[str | ModelAnswer]:
        answer = self._answers.pop(0)
        if isinstance(answer, ModelUnreachable):
            raise answer
        yield answer.text
        yield answer


def request(*messages: Message, system: str = "be good") -> ModelRequest:
    return ModelRequest(system, messages, [SEARCH])


async def asked(model: Model, given: ModelRequest) -> ModelAnswer:
    *_, answer = [piece async for piece in model.ask(given)]
    assert isinstance(answer, ModelAnswer)
    return answer


async def recorded(file: Path, key: Key, *turns: tuple[ModelRequest, ModelAnswer]) -> None:
    with closing(ModelRecorder(file, Scripted(*(answer for _, answer in turns)))) as recorder:
        model = recorder.model_of(key)
        for given, answer in turns:
            assert await asked(model, given) == answer


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "turns.jsonl"


def lines(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


ANSWER = ModelAnswer("hm", (ToolRequest("c1", "search", '{"queries": ["pay"]}'),), "stop", "", TokenUsage(9, 2, 3))
PAY = request(UserMessage("pay"))


async def test_a_whole_answer_is_replayed(file: Path) -> None:
    await recorded(file, KEY, (PAY, ANSWER))
    assert await asked(ModelReplay(file).model_of(KEY), PAY) == ANSWER


async def test_the_text_is_replayed_as_a_piece(file: Path) -> None:
    await recorded(file, KEY, (PAY, ANSWER))
    assert [piece async for piece in ModelReplay(file).model_of(KEY).ask(PAY)] == ["hm", ANSWER]


async def test_equal_requests_get_their_answers_in_order(file: Path) -> None:
    await recorded(file, KEY, (PAY, ModelAnswer("one")), (PAY, ModelAnswer("two")))
    model = ModelReplay(file).model_of(KEY)
    assert [(await asked(model, PAY)).text for _ in range(2)] == ["one", "two"]
    with pytest.raises(ReplayMismatch, match="recorded 2 times, and is asked once more"):
        await asked(model, PAY)


async def test_a_longer_conversation_is_recorded_by_its_new_parts(file: Path) -> None:
    longer = request(UserMessage("pay"), AssistantMessage("how?"), UserMessage("now"))
    await recorded(file, KEY, (PAY, ModelAnswer("how?")), (longer, ModelAnswer("done")))
    first, second = lines(file)
    assert [len(first["request"]), second["same"], len(second["request"])] == [4, 4, 2]
    model = ModelReplay(file).model_of(KEY)
    assert [(await asked(model, one)).text for one in (PAY, longer)] == ["how?", "done"]


async def test_attempts_that_ran_at_the_same_time_are_apart(file: Path) -> None:
    with closing(ModelRecorder(file, Scripted(*map(ModelAnswer, ("a1", "b1", "b2", "a2"))))) as recorder:
        first, second = recorder.model_of(KEY), recorder.model_of(OTHER)
        for model in (first, second, second, first):
            await asked(model, PAY)
    replay = ModelReplay(file)
    first, second = replay.model_of(KEY), replay.model_of(OTHER)
    assert [(await asked(first, PAY)).text for _ in range(2)] == ["a1", "a2"]
    assert [(await asked(second, PAY)).text for _ in range(2)] == ["b1", "b2"]


async def test_an_error_of_the_provider_is_replayed(file: Path) -> None:
    with closing(ModelRecorder(file, Scripted(ModelUnreachable("gone")))) as recorder, pytest.raises(ModelUnreachable):
        await asked(recorder.model_of(KEY), PAY)
    with pytest.raises(ModelUnreachable, match="gone"):
        await asked(ModelReplay(file).model_of(KEY), PAY)


async def test_an_attempt_that_was_interrupted_is_replaced_by_its_next_one(file: Path) -> None:
    await recorded(file, KEY, (PAY, ModelAnswer("before")))
    with file.open("a", encoding="utf-8") as out:
        out.write('{"suite": "shop", "ta')
    await recorded(file, KEY, (PAY, ModelAnswer("after")))
    assert (await asked(ModelReplay(file).model_of(KEY), PAY)).text == "after"


async def test_a_text_that_is_no_unicode_is_recorded(file: Path) -> None:
    await recorded(file, KEY, (PAY, ModelAnswer("cut \ud83d off")))
    assert (await asked(ModelReplay(file).model_of(KEY), PAY)).text == "cut \ud83d off"


async def test_random_ids_of_executions_are_those_of_the_replayed_run(file: Path) -> None:
    old, new = f"ex_{'1a' * 16}", f"ex_{'2b' * 16}"

    def failed(id_: str) -> ModelRequest:
        call = ToolRequest("c", "execute", "{}")
        result = ToolMessage("c", "execute", f"failed; resume_from={id_!r}; load('h_{id_[3:]}')")
        return request(UserMessage("pay"), AssistantMessage("", (call,)), result)

    resumes = ToolRequest("c2", "execute", f'{{"code": "", "resume_from": "{old}"}}')
    await recorded(file, KEY, (failed(old), ModelAnswer("", (resumes,))))
    answer = await asked(ModelReplay(file).model_of(KEY), failed(new))
    assert answer.calls[0].arguments == f'{{"code": "", "resume_from": "{new}"}}'


async def test_ids_of_calls_may_differ(file: Path) -> None:
    def after(id_: str) -> ModelRequest:
        call = ToolRequest(id_, "search", "{}")
        return request(UserMessage("pay"), AssistantMessage("", (call,)), ToolMessage(id_, "search", "found"))

    await recorded(file, KEY, (after("written_1"), ModelAnswer("done")))
    assert (await asked(ModelReplay(file).model_of(KEY), after("written_2"))).text == "done"


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (request(UserMessage("pay"), UserMessage("now")), "it has 1 part more"),
        (request(UserMessage("pays")), "part 4 (message of the user) differs"),
        (
            request(AssistantMessage("pay")),
            "part 4 is 'answer of the model' and was 'message of the user'",
        ),
        (request(UserMessage("pay"), system="be bad"), "part 1 (system prompt) differs"),
        (
            ModelRequest("be good", [UserMessage("pay")], []),
            "part 3 is 'message of the user' and was 'definition of search'",
        ),
    ],
)
async def test_an_unknown_request_is_named_with_the_nearest_difference(
    given: ModelRequest, reason: str, file: Path
) -> None:
    await recorded(file, KEY, (PAY, ANSWER))
    with pytest.raises(ReplayMismatch) as caught:
        await asked(ModelReplay(file).model_of(KEY), given)
    assert reason in str(caught.value)
    assert "shop a (mode code, repeat 0): request 1 is not in" in str(caught.value)


async def test_an_unknown_attempt_is_named_with_the_nearest(file: Path) -> None:
    await recorded(file, KEY, (PAY, ANSWER))
    with pytest.raises(ReplayMismatch, match=r"no attempt with suite shop, .* repeat 1.*nearest .* has repeat 0"):
        ModelReplay(file).model_of(OTHER)


def test_a_missing_recording_is_named_with_the_command_that_writes_it(file: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"no recording .*turns\.jsonl: `codemode measure .* --record"):
        ModelReplay(file)


def test_a_file_of_something_else_is_rejected(file: Path) -> None:
    file.write_text('{"a": 1}\n', encoding="utf-8")
    with pytest.raises(ConfigurationError, match=r"turns\.jsonl:1: not a line of a recording"):
        ModelReplay(file)
