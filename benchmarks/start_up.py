"""Start-up: processor time of commands, and the time until `codemode mcp` answers `initialize`.

    python -m benchmarks.start_up [--runs 5]

Prints medians, goals, and ratios to a bare interpreter.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

COMMAND = str(Path(sys.executable).parent / "codemode")

#: Goals in seconds: processor time, and wall time until the first answer for `initialize`.
GOALS = {"--version": 0.15, "--help": 0.3, "initialize": 0.5}

#: A source that never answers: `codemode mcp` must not wait for it.
SILENT = "sources: {silent: {command: [sleep, '60']}}\nstate_folder: state\ncache_folder: cache\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    runs = parser.parse_args().runs
    bare = statistics.median(processor_s([sys.executable, "-c", "pass"]) for _ in range(runs))
    print(f"{'':12} {'seconds':>8} {'goal':>6} {'x bare':>7}")
    for name in ("--version", "--help"):
        print_row(name, statistics.median(processor_s([COMMAND, name]) for _ in range(runs)), bare)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "codemode.yaml").write_text(SILENT, encoding="utf-8")
        print_row("initialize", statistics.median(greeting_s(folder) for _ in range(runs)), bare)


def print_row(name: str, seconds: float, bare: float) -> None:
    print(f"{name:12} {seconds:8.3f} {GOALS[name]:6.2f} {seconds / bare:7.1f}")


def processor_s(command: list[str]) -> float:
    """Return the user and system time of a command, in seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def greeting_s(folder: str) -> float:
    """Return the seconds from the start of `codemode mcp` to its answer to `initialize`."""
    client = {"name": "benchmark", "version": "1"}
    params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client}
    greeting = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
    began = time.perf_counter()
    with subprocess.Popen(
        [COMMAND, "mcp"],
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(f"{greeting}\n")
        server.stdin.flush()
        answer = json.loads(server.stdout.readline())
        took = time.perf_counter() - began
        assert answer["result"]["serverInfo"]["name"] == "codemode"
        server.kill()
    return took


if __name__ == "__main__":
    main()
