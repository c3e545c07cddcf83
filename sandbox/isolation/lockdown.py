"""The lockdown, in order: the steps of the fork server, then the steps of each worker before its program arrives.

Restrictions that survive a fork are applied in the fork server, once. Each step is one line here and one function in
the module of its mechanism. A failed step of `lock_worker` ends the worker. A failed step of `lock_server` is reported
by layer; the host decides whether to continue without it.
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
    """What each worker of a fork server needs for its lockdown."""

    #: The fork server's process number outside of its namespace, for the probe.
    outer_process: int
    footprint: rlimits.Footprint
    filter: seccomp.Filter | None


def lock_server(report: dict[str, str]) -> Lock:
    """Lock the fork server. `report` maps each layer to `"taken"` or the reason of its failure.

    Call it after the last import, since no file can be opened afterwards. Raises OSError if no_new_privs or the death
    signal cannot be set.
    """
    outer_process = os.getpid()
    footprint = rlimits.measure()
    built = _take(report, "seccomp", seccomp.build_filter)  # installed by each worker
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
    """Lock a worker that was just forked. Raises OSError if a step fails; the worker must then end."""
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
