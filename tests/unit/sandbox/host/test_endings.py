from __future__ import annotations

from sandbox import Failure, Limits, Status
from sandbox.host.endings import by_death, by_processor_time, by_wall_clock, with_last_word
from sandbox.protocol.control import Exit
from sandbox.protocol.guest_decoder import Final


def test_a_worker_that_died_with_its_server_says_so() -> None:
    failure = by_death(None, Limits()).failure
    assert failure is not None
    assert failure.message == "the worker ended before the program did: the fork server died"


def test_a_worker_that_the_kernel_killed_for_its_processor_time_has_timed_out() -> None:
    ending = by_death(Exit(status=9, cpu_s=2.5, peak_memory_bytes=0), Limits(cpu_s=2))
    assert (ending, ending.status) == (by_processor_time(Limits(cpu_s=2)), Status.TIMED_OUT)


def test_the_last_word_adds_the_line_that_was_running() -> None:
    said = Failure("Interrupted", "line 3 was running", line=3, excerpt="x")
    ending = with_last_word(by_wall_clock(Limits()), Final("failed", has_value=False, failure=said, notes=()))
    assert ending.failure is not None
    assert ending.failure.message.endswith("and was ended; line 3 was running")
    assert (ending.failure.line, ending.failure.excerpt, ending.limit) == (3, "x", "wall_s")


def test_a_last_word_without_a_failure_changes_nothing() -> None:
    late = by_wall_clock(Limits())
    assert with_last_word(late, Final("completed", has_value=False, failure=None, notes=())) is late
