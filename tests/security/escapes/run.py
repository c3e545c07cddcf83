"""Run the corpus of attempts against each layer alone, against all of them, and against nothing; print a table.

    python tests/security/escapes/run.py [RECORDS.yaml] [--layer LAYER] [--id ID] [--details]

Exits with 1 when an attempt is not held, or when the control holds although the record does not allow for it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import sys
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

_HERE = Path(__file__).resolve().parent
_PROGRAMS = _HERE.parents[1] / "unit" / "sandbox" / "programs"
sys.path[:0] = [str(_HERE)]

import canaries  # noqa: E402
import records  # noqa: E402

from sandbox import CallFailed, Limits, Outcome, Sandbox, Status  # noqa: E402
from sandbox.host.launch import import_folders  # noqa: E402

_SHARED = Path(os.environ.get("CODEMODE_SHARED", _HERE.parents[3] / "shared"))

LAYERS = ("control", "language", "os", "capability", "all")
#: Small enough that 45 attempts at endless work end soon.
LIMITS = Limits(wall_s=1.5, cpu_s=0.4, memory_bytes=128 * 1024 * 1024, output_bytes=100_000, calls=100)
_PARALLEL = 3
#: A machine that is busy is slow; a host that hangs never answers.
_LATE_S, _HUNG_S = 4.0, 30.0
_PEAK_BYTES = 400 * 1024 * 1024


@dataclass(frozen=True)
class Finding:
    """What one attempt did: `signs` is empty when the layer held."""

    record: records.Record
    layer: str
    signs: tuple[str, ...]
    says: str = ""

    @property
    def is_good(self):
        """Held; for the control: did not hold, or may."""
        if self.layer == "control":
            return bool(self.signs) or self.record.control_may_hold
        return not self.signs


def applicable(everything, layer):
    """Return the records that a layer must hold; the control is for programs only."""
    if layer == "control":
        return [r for r in everything if r.kind == "code" and r.layers != ("capability",)]
    if layer == "capability":
        return [r for r in everything if r.kind == "rpc_frames" or (r.kind == "code" and layer in r.layers)]
    if layer == "all":
        return [r for r in everything if r.kind == "code"]
    return [r for r in everything if r.kind == "code" and layer in r.layers]


#: So many more chances, alone, has an attempt that needs luck with timing (200 threads within .2 s).
_CHANCES = 10


async def attack(everything, layer):
    """Make all attempts on one layer."""
    chosen = applicable(everything, layer)
    if layer in ("control", "language"):
        module = "bare_program" if layer == "control" else "sandbox.guest.program"
        findings = await _attack_unwalled(chosen, layer, module)
        for _ in range(_CHANCES if layer == "control" else 0):
            again = [finding.record for finding in findings if not finding.is_good]
            if again:
                findings = [finding for finding in findings if finding.is_good]
                findings += await _attack_one_by_one(again, layer, module)
        return findings
    findings = []
    for kind, module in _MODULES[layer].items():
        those = [record for record in chosen if record.kind == kind]
        if those:
            findings += await _attack_sandbox(those, layer, module)
    return findings


_MODULES = {
    "os": {"code": "bare_program"},
    "all": {"code": "sandbox.guest.program"},
    "capability": {"rpc_frames": "hostile_program", "code": "bare_program"},
}


# --- behind the process wall --------------------------------------------------------------------------------------


async def _attack_sandbox(chosen, layer, module):
    scripts = {record.id: records.steps(record) for record in chosen if record.kind == "rpc_frames"}
    hit = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, hit.set)
    turns = asyncio.Semaphore(_PARALLEL)
    try:
        async with Sandbox(limits=LIMITS, program=module, folders=(str(_HERE), str(_PROGRAMS))) as sandbox:

            async def one(record):
                async with turns:
                    finding = await _attempt(sandbox, record, layer, scripts.get(record.id))
                if hit.is_set():
                    hit.clear()
                    finding = Finding(record, layer, (*finding.signs, "host signalled"))
                return finding

            return await asyncio.gather(*(one(record) for record in chosen))
    finally:
        asyncio.get_running_loop().remove_signal_handler(signal.SIGTERM)


async def _attempt(sandbox, record, layer, script):
    traps = canaries.Canaries()
    tools = Tools()
    try:
        code = script or traps.fill(record.code, os.getpid())
        limits = replace(LIMITS, source_bytes=len(code) + 1, cpu_s=10.0, wall_s=3.0) if script else LIMITS
        code = records.sent(code)
        signs = []
        try:
            async with asyncio.timeout(limits.wall_s + _HUNG_S):
                names = ("tool", "call", "obj", *Tools.DECLARED)
                outcome = await sandbox.run(code, names=names, call=tools.call, limits=limits)
        except TimeoutError:
            return Finding(record, layer, ("host hung",))
        signs += traps.found(_texts(outcome)) + tools.breaches
        signs += _exceeded(outcome, limits)
        after = await sandbox.run(_AFTER[record.kind, layer])
        if after.status is not Status.COMPLETED:
            signs.append(f"next run {after.status}: {after.failure}")
        return Finding(record, layer, tuple(signs), f"{outcome.status} {outcome.failure and outcome.failure.message}")
    finally:
        traps.close()


#: A program that must run after every attempt.
_AFTER = {
    ("code", "os"): "import json\nassert json.dumps([1]) == '[1]' and sorted([2, 1]) == [1, 2]",
    ("code", "capability"): "1 + 1",
    ("rpc_frames", "capability"): "[]",
    ("code", "all"): "import json\nassert json.dumps([1]) == '[1]' and sorted([2, 1]) == [1, 2]",
}


def _texts(outcome: Outcome):
    texts = [outcome.output, str(outcome.value), *outcome.notes]
    if outcome.failure:
        failure = outcome.failure
        # The excerpt shows the program's own source, in which no marker stands in one piece.
        texts += [failure.type, failure.message, failure.hint, failure.traceback, failure.excerpt]
    return texts


def _exceeded(outcome: Outcome, limits: Limits):
    signs = []
    if outcome.usage.wall_s > limits.wall_s + _LATE_S:
        signs.append(f"ran {outcome.usage.wall_s:.1f} s")
    if outcome.usage.peak_memory_bytes > _PEAK_BYTES:
        signs.append(f"took {outcome.usage.peak_memory_bytes >> 20} MiB")
    if len(outcome.output) > LIMITS.output_bytes:
        signs.append("exceeded output")
    if outcome.usage.calls > LIMITS.calls + 1:
        signs.append("exceeded calls")
    return signs


class Tools:
    """What the host offers: three declared tools, two that must never run, and exact arguments."""

    DECLARED = ("echo", "big", "fail")

    def __init__(self):
        self.breaches = []

    async def call(self, call):
        """Answer one call, as a strict gateway would."""
        if call.tool in ("tool", "call"):
            if len(call.arguments) != 1:
                raise CallFailed(f"{call.tool}() takes one argument, x", kind="arguments_invalid")
            return "result of tool"
        if call.tool not in self.DECLARED:
            raise CallFailed(f"there is no tool {call.tool!r}", kind="unknown_tool")
        if call.arguments.keys() != {"x"} or type(call.arguments["x"]) is not str:
            raise CallFailed("exactly one argument, x, a string", kind="arguments_invalid")
        if call.tool == "big":
            return "b" * 1_000_000
        if call.tool == "fail":
            raise RuntimeError(f"401 for Authorization: Bearer {canaries.CREDENTIAL}")
        return call.arguments["x"]

    async def admin(self, call):
        """Exists and is not declared."""
        self.breaches.append("admin ran")

    danger = admin


# --- without one --------------------------------------------------------------------------------------------------


async def _attack_unwalled(chosen, layer, module):
    halves = [chosen[index::_PARALLEL] for index in range(_PARALLEL)]
    found = await asyncio.gather(*(_attack_one_by_one(half, layer, module) for half in halves if half))
    return [finding for findings in found for finding in findings]


async def _attack_one_by_one(chosen, layer, module):
    process = await asyncio.create_subprocess_exec(
        *_private_mounts(),
        sys.executable,
        str(_HERE / "unwalled.py"),
        module,
        *import_folders(),
        str(_PROGRAMS),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        limit=1 << 24,
        env={**os.environ, "PYTHONHASHSEED": "0"},
    )
    findings = []
    for record in chosen:
        process.stdin.write(json.dumps(record.code).encode() + b"\n")
        line = await asyncio.wait_for(process.stdout.readline(), 60)
        if not line:
            findings.append(Finding(record, layer, ("template died",)))
            break
        result = json.loads(line)
        findings.append(Finding(record, layer, tuple(result["signs"]), f"{result['status']} {result['says']}"))
    process.stdin.close()
    await process.wait()
    return findings


def _private_mounts():
    """As root: let no mount of an attempt reach this machine."""
    return ["unshare", "--mount", "--propagation", "private"] if os.getuid() == 0 else []


# --- the table ----------------------------------------------------------------------------------------------------


def table(findings):
    """Return the findings as text: one row for each category, one column for each layer, held of tried."""
    held = Counter((f.record.category, f.layer) for f in findings if not f.signs)
    tried = Counter((f.record.category, f.layer) for f in findings)
    layers = [layer for layer in LAYERS if any(f.layer == layer for f in findings)]
    lines = [f"{'category':<12}" + "".join(f"{layer:>14}" for layer in layers)]
    for category in sorted({f.record.category for f in findings}):
        cells = [f"{held[category, x]} of {tried[category, x]}" if tried[category, x] else "" for x in layers]
        lines.append(f"{category:<12}" + "".join(f"{cell:>14}" for cell in cells))
    sums = [
        f"{sum(not f.signs for f in findings if f.layer == x)} of {sum(f.layer == x for f in findings)}" for x in layers
    ]
    lines.append(f"{'held':<12}" + "".join(f"{cell:>14}" for cell in sums))
    return "\n".join(lines)


def main():
    """Parse the command line, attack, print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("records", type=Path, nargs="?", default=_SHARED / "security" / "escapes.yaml")
    parser.add_argument("--layer", choices=LAYERS, action="append")
    parser.add_argument("--id")
    parser.add_argument("--details", action="store_true")
    options = parser.parse_args()
    sys.stdout.reconfigure(errors="backslashreplace")  # what an attempt says may be half a character
    if not options.records.is_file():
        parser.error(f"there are no records at {options.records}; name a file, or set CODEMODE_SHARED")
    everything = [r for r in records.load(options.records) if options.id in (None, r.id)]
    findings = []
    for layer in options.layer or LAYERS:
        findings += asyncio.run(attack(everything, layer))
    print(table(findings))
    for finding in findings:
        if options.details or not finding.is_good:
            print(f"{finding.layer:<11}{finding.record.id:<34}{', '.join(finding.signs) or 'held':<40}{finding.says}")
    return 0 if all(finding.is_good for finding in findings) else 1


if __name__ == "__main__":
    sys.exit(main())
