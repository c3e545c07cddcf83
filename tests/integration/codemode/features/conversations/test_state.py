"""State between the programs of a conversation, with a journal and without one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from codemode import CodeMode, tool
from codemode.errors import WrongArgument
from codemode.gateway.caller import Caller
from codemode.settings import Settings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from codemode.executions.types.outcome import ExecutionOutcome

OWNER, OTHER = Caller("one", "admin"), Caller("two", "admin")


@tool(effect="read")
def nothing() -> None:
    """Return nothing."""


def service_of(state_folder: Path, *, recorded: bool, **sections: Any) -> CodeMode:
    given = {"state_folder": state_folder, "journal": {"enabled": recorded}, **sections}
    return CodeMode.from_settings(Settings.model_validate(given), functions={"some": [nothing]})


@pytest.fixture(params=[True, False], ids=["recorded", "in memory"])
async def service(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[CodeMode]:
    limits = {"value_bytes": 1024, "bytes_per_key": 3000}
    async with service_of(tmp_path, recorded=request.param, conversations=limits) as opened:
        yield opened


async def run(service: CodeMode, code: str, conversation: str = "chat", **more: Any) -> ExecutionOutcome:
    return await service.execute(code, conversation=conversation, **{"caller": OWNER, **more})


async def told(service: CodeMode, code: str, conversation: str = "chat", **more: Any) -> str:
    """Return the failure of a program, with its hint."""
    failure = (await run(service, code, conversation, **more)).failure
    assert failure is not None
    return f"{failure.message} | {failure.hint}"


async def test_a_later_program_loads_what_an_earlier_one_stored(service: CodeMode) -> None:
    stored = await run(service, "store('totals', {'berlin': 3, 'ü': [None]})\nstore(name='totals2', value=1)")
    assert (stored.status, stored.has_value, stored.calls) == ("completed", False, ())
    assert (await run(service, "[load('totals'), load(name='totals2')]")).value == [{"berlin": 3, "ü": [None]}, 1]
    assert (await run(service, "load('totals').berlin")).value == 3


ODD = {
    "set": "{3, 1}",
    "date": "__import__('datetime').date(2024, 1, 2)",
    "Decimal": "__import__('decimal').Decimal('1.10')",
    "dataclass": "__import__('dataclasses').make_dataclass('P', ['x'])({1: (2, 3)})",
    "Enum": "__import__('enum').Enum('E', 'A').A",
    "generator": "(n for n in 'ab')",
    "nested": "[{'when': __import__('datetime').date(2024, 1, 2), 'ids': {5}}]",
}


@pytest.mark.parametrize("kind", ODD)
async def test_what_can_be_a_result_can_be_stored_in_the_same_form(service: CodeMode, kind: str) -> None:
    result = await run(service, ODD[kind])
    stored = await run(service, f"store('v', {ODD[kind]})\nload('v')")
    assert (stored.failure, stored.value) == (None, result.value)


async def test_what_cannot_be_a_result_is_not_stored(service: CodeMode) -> None:
    assert "store(): value" in await told(service, "class A:\n    __slots__ = ()\nstore('v', A())")


async def test_other_callers_and_other_conversations_share_nothing(service: CodeMode) -> None:
    await run(service, "store('totals', 1)")
    nothing_stored = "this conversation has no stored value 'totals': nothing is stored; store(name, value) stores"
    assert nothing_stored in await told(service, "load('totals')", caller=OTHER)
    assert nothing_stored in await told(service, "load('totals')", "another chat")
    assert "there is no result 'totals'" in await told(service, "load('totals')", "")
    assert "name 'store' is not defined" in await told(service, "store('totals', 1)", "")


async def test_last_is_the_result_of_the_newest_program_that_returned_one(service: CodeMode) -> None:
    await run(service, "[1, 2]")
    await run(service, "store('x', 1)")
    await run(service, "1 / 0")
    assert (await run(service, "[sum(last), load('last')]")).value == [3, [1, 2]]
    assert (await run(service, "last")).value == [3, [1, 2]]
    assert "there is no `last`" in await told(service, "last", "another chat")
    assert (await run(service, "last = 5\nlast")).value == 5


async def test_a_conversation_is_told_about_state_once_with_its_first_large_result(service: CodeMode) -> None:
    dry = await run(service, "list(range(1002))", dry_run=True)
    assert not any("`last`" in note for note in dry.notes)
    outcomes = [await run(service, f"list(range({count}))") for count in (1, 1000, 1001, 100_000)]
    greeting = "`last` is this result in the next program; store(name, value) keeps more, and load(name) returns it"
    assert [outcome.notes for outcome in outcomes] == [(), (greeting,), (), ()]
    assert (await run(service, "list(range(1003))", "")).notes == ()
    assert (await run(service, "list(range(1004))", "another chat")).notes == (greeting,)


async def test_a_missing_name_says_what_programs_share(service: CodeMode) -> None:
    await run(service, "clients = [1]\nclients")
    message = await told(service, "clients[0]")
    assert "name 'clients' is not defined" in message
    assert message.endswith(
        "programs of one conversation share only the values that store(name, value) keeps, which load(name) returns, "
        "and `last`, the previous result"
    )
    assert "share only" not in await told(service, "clients[0]", "")


async def test_a_misspelt_name_is_answered_with_the_nearest(service: CodeMode) -> None:
    await run(service, "store('totals', 1)\n2")
    assert "no stored value 'total': did you mean 'totals'?" in await told(service, "load('total')")
    assert "no stored value 'zzz': stored: totals; store(name" in await told(service, "load('zzz')")


async def test_the_limits_are_named(service: CodeMode) -> None:
    assert "the value has 2,002 bytes as JSON, and conversations.value_bytes allows 1,024" in await told(
        service, "store('big', 'x' * 2000)"
    )
    program = "for name in 'abc':\n    store(name, 'x' * 1000)"
    assert "the values of this key would exceed conversations.bytes_per_key, 3,000 bytes, by" in await told(
        service, program
    )
    assert (await run(service, "[len(load('a')), len(load('b'))]")).value == [1000, 1000]
    assert (await run(service, "try:\n    load('c')\nexcept ToolError as error:\n    x = error.kind\nx")).value == (
        "state_not_found"
    )


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("store('last', 1)", "the name stands for the previous result; choose another"),
        ("store('h_1', 1)", "the name stands for the handle of a result; choose another"),
        ("store('a\\x00', 1)", "a name has visible characters only"),
        ("store('', 1)", "store(): name"),
        ("store('a')", "store(): value"),
        ("store('a', 1, 2)", "takes 2 positional arguments, 3 given"),
        ("load()", "load(): name"),
        ("load('a\\x00')", "has no stored value"),
    ],
)
async def test_what_cannot_be_stored_is_rejected(service: CodeMode, code: str, message: str) -> None:
    assert message in await told(service, code)


async def test_what_a_failed_program_stored_before_remains(service: CodeMode) -> None:
    await run(service, "store('done', 2)\n1 / 0")
    assert (await run(service, "load('done')")).value == 2


async def test_a_dry_run_reads_the_state_and_changes_nothing(service: CodeMode) -> None:
    await run(service, "store('a', 1)\n'before'")
    dry = await run(service, "store('a', 2)\nstore('b', 3)\n[load('a'), load('b'), last]", dry_run=True)
    assert dry.value == [2, 3, "before"]
    assert (await run(service, "[load('a'), last]")).value == [1, "before"]
    assert "no stored value 'b'" in await told(service, "load('b')")


@pytest.mark.parametrize("conversation", ["x" * 129, "a\nb", " ", "a\u202eb"])
async def test_an_invalid_id_is_rejected(service: CodeMode, conversation: str) -> None:
    with pytest.raises(WrongArgument, match="expected 1 to 128 visible characters"):
        await run(service, "1", conversation)


async def test_values_expire(tmp_path: Path) -> None:
    async with service_of(tmp_path, recorded=True, conversations={"keep_s": 1e-6}) as service:
        await run(service, "store('a', 1)\n2")
        assert "no stored value 'a': nothing is stored" in await told(service, "load('a')")
        assert "there is no `last`" in await told(service, "last")


async def test_a_namespace_hides_a_function_of_the_same_name(tmp_path: Path) -> None:
    settings = Settings.model_validate({"state_folder": tmp_path})
    async with CodeMode.from_settings(settings, functions={"load": [nothing]}) as service:
        await run(service, "store('a', 1)\n2")
        assert (await run(service, "load.nothing()")).ok
        assert "name 'last' is not defined" in await told(service, "last")


async def test_the_state_outlives_the_service_and_the_id_is_not_recorded(tmp_path: Path) -> None:
    async with service_of(tmp_path, recorded=True) as service:
        await run(service, "store('a', 1)\n2", "a secret session id")
    async with service_of(tmp_path, recorded=True) as service:
        assert (await run(service, "[load('a'), last]", "a secret session id")).value == [1, 2]
    assert not any(b"a secret session id" in data for data in contents(tmp_path))


def contents(folder: Path) -> list[bytes]:
    return [file.read_bytes() for file in folder.iterdir() if file.is_file()]
