"""The lockdown, in order: what the fork server gives up once, and what each worker gives up before a program arrives.

What survives a fork is taken in the fork server, where it costs once. Each step is one line here and one function in
the file of its mechanism. A step of `lock_worker` that fails ends the worker. In the fork server a layer that the
machine does not give is reported by name; whether to go on without it is the host's decision, never made here.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from sandbox.isolation import descriptors, landlock, namespaces, privileges, rlimits, seccomp

if TYPE_CHECKING:
    from collections.abc import Callable

TAKEN = "taken"

_T = TypeVar("_T")


@dataclass(frozen=True)
class Lock:
    """What every worker of a fork server needs for its part: built once."""

    #: Number of the fork server in the namespace of the host, for the probe.
    outer_process: int
    footprint: rlimits.Footprint
    filter: seccomp.Filter | None


def lock_server(report: dict[str, str]) -> Lock:
    """Lock the fork server. `report` gets `"taken"` or the reason of failure for each layer.

    Must be called after the last import: no file can be opened afterwards.
    """
    outer_process = os.getpid()
    footprint = rlimits.measure()
    built = _take(report, "seccomp", seccomp.build_filter)  # built here, installed by each worker
    _take(report, "user", privileges.become_nobody)
    _take(report, "namespaces", namespaces.leave_all)
    privileges.die_with_parent()
    if report["namespaces"] == TAKEN:
        namespaces.become_first_process()
        _take(report, "namespaces", namespaces.leave_files)
    privileges.die_with_parent()
    _take(report, "capabilities", privileges.drop_capabilities)
    privileges.forbid_new_privileges()
    privileges.hide_memory()
    _take(report, "landlock", landlock.deny_everything)
    _take(report, "rlimits", rlimits.limit_server)
    return Lock(outer_process, footprint, built)


def lock_worker(lock: Lock, *, channel: int, memory_bytes: int, cpu_s: int) -> None:
    """Lock a worker that was just forked. Raises OSError when a step fails: the worker must end."""
    descriptors.keep_only(channel)
    privileges.die_with_parent()
    rlimits.limit_worker(lock.footprint, memory_bytes=memory_bytes, cpu_s=cpu_s)
    if lock.filter is not None:
        seccomp.install(lock.filter)


def _take(report: dict[str, str], layer: str, step: Callable[[], _T]) -> _T | None:
    try:
        result = step()
    except (OSError, ValueError) as error:
        report[layer] = f"{type(error).__name__}: {error}"
        return None
    report[layer] = TAKEN
    return result
