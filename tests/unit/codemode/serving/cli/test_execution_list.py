from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, get_args

import pytest

from codemode.errors import ConfigurationError, ExecutionNotFound
from codemode.executions.types.records import ExecutionStatus, NewExecution, StoredExecution
from codemode.serving.cli.execution_list import FAILED, PAGE, Shown, since, whole_id

if TYPE_CHECKING:
    from codemode.serving.cli.execution_list import ReadPage

NOW = datetime(2026, 11, 28, 13, 30, tzinfo=UTC)


def stored(id_: str, status: ExecutionStatus = "completed", created_us: int = 0) -> StoredExecution:
    request = NewExecution(f"ex_{id_:0<32}", "local", "default", "1", bytes(32), 0, {}, {})
    return StoredExecution(request, status, "", 0, created_us, created_us, created_us)


def pages_of(*executions: StoredExecution) -> ReadPage:
    async def read(before: str) -> tuple[StoredExecution, ...]:
        ids = [one.request.id for one in executions]
        begin = ids.index(before) + 1 if before else 0
        return executions[begin : begin + PAGE]

    return read


@pytest.mark.parametrize(
    ("text", "begin"),
    [
        ("today", datetime(2026, 11, 28, tzinfo=UTC)),
        ("Yesterday", datetime(2026, 11, 27, tzinfo=UTC)),
        ("90m", datetime(2026, 11, 28, 12, tzinfo=UTC)),
        ("3h", datetime(2026, 11, 28, 10, 30, tzinfo=UTC)),
        ("2d", datetime(2026, 11, 26, 13, 30, tzinfo=UTC)),
        ("2026-11-27", datetime(2026, 11, 27, tzinfo=UTC)),
        ("2026-11-27T08:00+02:00", datetime(2026, 11, 27, 6, tzinfo=UTC)),
    ],
)
def test_a_word_a_duration_and_a_date_name_a_time(text: str, begin: datetime) -> None:
    assert since(text, NOW) == int(begin.timestamp() * 1_000_000)


def test_another_word_is_rejected_with_what_may_be_written() -> None:
    with pytest.raises(ConfigurationError, match=r"'yesterdy' is no time; write today, yesterday, 90m, 3h"):
        since("yesterdy", NOW)


async def test_the_beginning_of_one_id_is_that_id() -> None:
    read = pages_of(stored("abcd1"), stored("abce1"))
    assert await whole_id(read, "ex_abcd") == await whole_id(read, "ABCD1") == f"ex_{'abcd1':0<32}"


async def test_the_beginning_of_several_ids_is_rejected_with_the_candidates() -> None:
    read = pages_of(*(stored(f"abcd{number}") for number in range(7)))
    with pytest.raises(ConfigurationError, match=r"'abcd' is the beginning of 7 executions: ex_abcd0.* and 2 more"):
        await whole_id(read, "abcd")


@pytest.mark.parametrize("text", ["abc", "ffff", "", "ex_", "list", "%"])
async def test_what_begins_no_id_is_not_found(text: str) -> None:
    with pytest.raises(ExecutionNotFound):
        await whole_id(pages_of(stored("abcd1")), text)


async def test_an_id_on_a_later_page_is_found() -> None:
    read = pages_of(*(stored(f"{number:08x}") for number in range(PAGE + 5)))
    assert await whole_id(read, f"{PAGE + 2:08x}") == f"ex_{f'{PAGE + 2:08x}':0<32}"


async def test_a_list_has_the_statuses_since_a_time() -> None:
    read = pages_of(
        stored("a", "failed", 40), stored("b", "completed", 30), stored("c", "crashed", 20), stored("d", "failed", 10)
    )
    shown = await Shown(FAILED, since_us=20).of(read, 10)
    assert [one.request.id[3] for one in shown] == ["a", "c"]
    assert [one.request.id[3] for one in await Shown().of(read, 2)] == ["a", "b"]


def test_every_end_but_the_meant_ones_is_a_failure() -> None:
    assert set(get_args(ExecutionStatus)) - set(FAILED) == {"queued", "running", "paused", "completed", "cancelled"}
