"""Probe which layers are in force, and refuse to start without the required ones."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NoReturn

from sandbox.errors import SandboxUnavailable, WorkerError
from sandbox.host.worker import read_frame
from sandbox.protocol.control import DATAGRAM_BYTES, Purpose

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from sandbox.host.fork_server import ForkServer
    from sandbox.limits import Limits

IN_FORCE = "in force"
#: The lockdown's report of a layer that it applied.
TAKEN = "taken"

_PROBE_TIMEOUT_S = 10.0

#: How to provide each layer that can be required.
REMEDIES = {
    "seccomp": (
        "the kernel needs CONFIG_SECCOMP_FILTER, and the container must not refuse prctl: Docker and Kubernetes allow"
        " it by default (else: --security-opt seccomp=unconfined, or a profile that allows prctl)"
    ),
    "rlimits": "the container must not refuse setrlimit and prlimit64 (Docker and Kubernetes allow them by default)",
    "fork_server": "the process must be allowed to start a child by exec and to pass descriptors over a Unix socket",
    "user": (
        "run as an ordinary user, or give root CAP_SETUID and CAP_SETGID (docker: --cap-add SETUID --cap-add SETGID)"
    ),
    "capabilities": (
        "the container must not refuse capset (Docker and Kubernetes allow it by default; else: --security-opt"
        " seccomp=unconfined, or a profile that allows it)"
    ),
    "namespaces": (
        "user namespaces must be allowed: sysctl user.max_user_namespaces > 0 (and on Ubuntu"
        " kernel.apparmor_restrict_unprivileged_userns=0); docker: --security-opt seccomp=unconfined or a profile that"
        " allows unshare, mount and pivot_root"
    ),
    "landlock": (
        "the kernel needs 5.13 or newer with landlock among its security modules (lsm=landlock,...), and the container"
        " must not refuse landlock_create_ruleset and landlock_restrict_self (docker: --security-opt"
        " seccomp=unconfined, or a profile that allows them)"
    ),
}


#: The values of `Sandbox.isolation` on other platforms than Linux.
_ELSEWHERE = {
    "seccomp": "{platform} has no filter of system calls",
    "rlimits": "in part: processor time, size of files, cores; memory is not limited",
    "fork_server": "{platform} has no pidfd: each worker is a process started by exec, a third of a second each",
    "user": "not taken: programs run as the user of this process",
    "capabilities": "{platform} has none to give up",
    "namespaces": "{platform} has none: files, network and other processes are in reach of the process",
    "landlock": "{platform} has none: see namespaces",
}


def missing_on(platform: str) -> dict[str, str]:
    """Return the result for each layer on a platform without a process wall."""
    return {layer: f"not there: {_ELSEWHERE[layer].format(platform=platform)}" for layer in REMEDIES}


def refuse_platform(platform: str) -> NoReturn:
    """Raise SandboxUnavailable for a platform without a process wall; the message names the opt-in."""
    lines = [f"{layer}: {result}" for layer, result in missing_on(platform).items()]
    message = (
        f"the sandbox needs Linux; this is {platform}, and nothing of the process wall is there:\n  "
        + "\n  ".join(lines)
        + "\nUse a container or a virtual machine with Linux, or the Monty engine (sandbox.MontySandbox; in a"
        " configuration, `sandbox: {engine: monty}`). Sandbox(insecure=True) runs programs here behind the"
        " language policy alone: only for programs that you would run without a sandbox"
    )
    raise SandboxUnavailable(message)


async def probe(server: ForkServer, limits: Limits) -> dict[str, str]:
    """Probe each layer in a child. Returns `"in force"` for each, or why it does not count.

    Raises WorkerError if the child does not report.
    """
    worker = server.fork(limits, Purpose.PROBE)
    try:
        found: dict[str, str] = json.loads(await read_frame(worker, budget=DATAGRAM_BYTES, timeout_s=_PROBE_TIMEOUT_S))
    except (TimeoutError, EOFError) as error:
        message = f"the probe of the sandbox did not report ({type(error).__name__})"
        raise WorkerError(message) from error
    finally:
        worker.discard()
    return {layer: _judge(result, server.lockdown.get(layer, TAKEN)) for layer, result in found.items()}


def refuse_missing(found: Mapping[str, str], required: Collection[str]) -> None:
    """Raise SandboxUnavailable if a required layer is not in force, or ValueError for an unknown layer."""
    unknown = sorted(set(required) - set(REMEDIES))
    if unknown:
        message = f"there is no layer {unknown[0]!r}; known are {', '.join(REMEDIES)}"
        raise ValueError(message)
    missing = [layer for layer in REMEDIES if layer in required and not is_in_force(found.get(layer, ""))]
    if missing:
        lines = [f"{layer}: {found.get(layer, 'not probed')}. {REMEDIES[layer]}" for layer in missing]
        message = "this machine does not give what the sandbox requires:\n  " + "\n  ".join(lines)
        raise SandboxUnavailable(message)


def is_in_force(result: str) -> bool:
    """Return whether a result of the probe means that the layer holds."""
    return result.startswith(IN_FORCE)


def _judge(result: str, taken: str) -> str:
    """Return the result of a layer, which counts if the lockdown applied it and the attempts against it failed."""
    if taken == TAKEN:
        return result
    return f"not taken: {taken}" if is_in_force(result) else f"{result} ({taken})"
