"""Three servers, PostgreSQL and HAProxy under three faults; `make chaos` has 300 of them."""

from __future__ import annotations

import os
import select
import subprocess
import sys
from pathlib import Path

import pytest

from tests.nightly.chaos.faults import BY_NAME, plan
from tests.nightly.chaos.own_namespaces import missing

CHAOS = Path(__file__).parents[4] / "tests" / "nightly" / "chaos" / "run.py"

WHY_NOT = missing()

needs_namespaces = pytest.mark.skipif(bool(WHY_NOT), reason=f"{WHY_NOT}, which `make chaos` needs")


def test_a_seed_gives_the_same_events_of_all_kinds_again() -> None:
    rounds = plan(300, 7, ("s1", "s2", "s3"))
    assert rounds == plan(300, 7, ("s1", "s2", "s3"))
    events = [event for each in rounds for event in each]
    assert [event.number for event in events] == list(range(1, 301))
    assert {event.kind for event in events} == set(BY_NAME)
    assert all(len(each) == 1 for each in rounds if "upgrade" in [event.kind for event in each])


@needs_namespaces
def test_nothing_is_lost_and_nothing_done_twice_while_servers_and_the_database_die() -> None:
    command = [sys.executable, str(CHAOS), "--events", "3", "--seed", "109", "--before", "0.5"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, f"{ended.stdout}\n{ended.stderr}"
    assert "violations             0" in ended.stdout


@needs_namespaces
def test_nothing_is_left_behind_by_a_run_that_is_killed() -> None:
    with subprocess.Popen([sys.executable, str(CHAOS), "--before", "60"], stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        assert run.stdout.readline().startswith("three servers are up")
        left = [os.pidfd_open(pid) for pid in descendants(run.pid)]
        assert len(left) > 10
        run.kill()
    while left:
        ended, _, _ = select.select(left, [], [])
        for one in ended:
            os.close(one)
            left.remove(one)


def descendants(pid: int) -> list[int]:
    """The process ids below one."""
    found = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in map(int, (task / "children").read_text().split()):
            found += [child, *descendants(child)]
    return found
