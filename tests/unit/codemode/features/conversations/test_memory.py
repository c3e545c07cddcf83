"""Stored values in memory."""

from __future__ import annotations

from codemode.executions.types.state_values import StateKey, StateWrite, size_of
from codemode.features.conversations.memory import MemoryState

KEY = StateKey("ann", "c1", "totals")


class Clock:
    """A clock that tests set."""

    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def write(value: bytes = b"1", key: StateKey = KEY, owner_bytes: int = 10_000) -> StateWrite:
    return StateWrite(key, value, 60, owner_bytes)


async def test_a_value_is_loaded_by_its_owner_in_its_conversation_until_it_expires() -> None:
    clock = Clock()
    state = MemoryState(clock)
    assert await state.store_state("1", write()) == 0
    assert await state.store_state("1", write(b"2")) == 0
    assert await state.load_state(KEY) == b"2"
    assert await state.load_state(KEY._replace(owner="bob")) is None
    assert await state.state_names("ann", "c1") == ("totals",)
    clock.now_s = 60
    assert await state.load_state(KEY) is None
    assert await state.state_names("ann", "c1") == ()


async def test_the_values_of_an_owner_have_a_limit() -> None:
    state = MemoryState()
    limit = size_of(b"12")
    assert await state.store_state("1", write(owner_bytes=limit)) == 0
    assert await state.store_state("1", write(key=KEY._replace(name="b"), owner_bytes=limit)) == size_of(b"1") - 1
    assert await state.store_state("1", write(b"12", owner_bytes=limit)) == 0
    assert await state.store_state("1", write(key=KEY._replace(owner="bob"), owner_bytes=limit)) == 0
