"""Outcomes from errors of the interpreter."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from pydantic_monty import Monty, MontyError

from sandbox import Limits
from sandbox.monty.endings import by_error

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic_monty import MontySession

    from sandbox.host.endings import Ending


@pytest.fixture
def session() -> Iterator[MontySession]:
    limits = {"max_feed_duration_secs": 0.2, "max_memory": 32 << 20}
    with Monty() as pool, pool.checkout(limits=limits) as checked_out:  # type: ignore[arg-type]
        yield checked_out


def ending(session: MontySession, code: str) -> Ending:
    with pytest.raises(MontyError) as caught:
        session.feed_run(code)
    return by_error(caught.value, Limits(cpu_s=0.2), {"the service is broken"})


@pytest.mark.parametrize(
    ("code", "status", "kind", "hint"),
    [
        ("1 / 0", "failed", "ZeroDivisionError", ""),
        ("raise RuntimeError('the service is broken')", "failed", "ToolError", ""),
        ("raise RuntimeError('another')", "failed", "RuntimeError", ""),
        ("{}.name", "failed", "AttributeError", 'this engine reads fields by key: write ["name"]'),
        ("async def f(): await 3\nawait f()", "failed", "TypeError", "write `await` directly before the call"),
        ("try:\n    1 / 0\nexcept Exception as e:\n    e.status", "failed", "AttributeError", ""),
        ("raise RuntimeError().status", "failed", "AttributeError", "in this engine, a ToolError has only str(error)"),
        ("class A(B): pass", "refused", "PolicyViolation", "write it with functions, loops"),
        ("x = (", "refused", "SyntaxError", ""),
        ("while True: pass", "timed_out", "CpuTimeExceeded", "look for a loop that does not end"),
        ("x = 'a' * 100_000_000", "out_of_memory", "MemoryError", ""),
        ("raise TimeoutError('mine')", "failed", "TimeoutError", ""),
    ],
)
def test_an_error_has_its_status_type_and_hint(
    session: MontySession, code: str, status: str, kind: str, hint: str
) -> None:
    found = ending(session, code)
    assert found.failure is not None
    assert (found.status, found.failure.type) == (status, kind)
    assert found.failure.hint.startswith(hint)
    assert bool(hint) == bool(found.failure.hint)


def test_a_failure_has_its_place_and_no_name_of_a_file(session: MontySession) -> None:
    failure = ending(session, "def f():\n    return [1][3]\nf()").failure
    assert failure is not None
    assert (failure.line, failure.column, failure.excerpt) == (2, 11, "    return [1][3]")
    assert 'File "<program>", line 3' in failure.traceback
