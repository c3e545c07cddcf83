"""Start-up: processor time and wall time of commands and servers, beside peers of the same kind.

    python -m benchmarks.start_up [FILE …] [--runs 5]

FILE is an API document; the default is that of the example service. Caches are filled before the first measurement,
and all modules are compiled. Servers are measured until they answer: `serve` until `/readyz` answers 200, `mcp` until
it answers `initialize`. Processor time includes the sandbox's processes. Figures are the best of all runs: other load
only adds to them. The last column is the ratio to the peer's processor time.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from http.client import HTTPConnection
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

COMMAND = str(Path(sys.executable).parent / "codemode")
GYM = Path(__file__).parent.parent / "api_specs" / "gym" / "openapi.yaml"

_POLL_S = 0.005
_HANGS_S = 60.0

#: Peers: a web framework and the MCP SDK, each with one handler.
FASTAPI = """
import sys, uvicorn, fastapi
app = fastapi.FastAPI()
app.get("/readyz")(lambda: {"status": "ok"})
uvicorn.run(app, port=int(sys.argv[1]), log_level="error")
"""
MCP = """
from mcp.server.mcpserver import MCPServer
MCPServer("peer").run("stdio")
"""
SANDBOX = """
import asyncio
from sandbox import Sandbox
async def main():
    async with Sandbox() as box:
        assert (await box.run("return 2")).value == 2
asyncio.run(main())
"""

#: A source that never answers: `codemode mcp` must not wait for it.
SILENT = "sources: {silent: {command: [sleep, '60']}}\nstate_folder: state\ncache_folder: cache\n"


class Spent(NamedTuple):
    """Seconds of processor time and of wall time."""

    processor_s: float
    wall_s: float


class Row(NamedTuple):
    """A row of the table: the measurement, its goals (0 for none), and the name of its peer's row."""

    name: str
    measure: Callable[[str], Spent]
    goal: Spent = Spent(0.0, 0.0)
    peer: str = "python"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", metavar="FILE", type=Path, nargs="*", default=[GYM])
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # noqa: TID251 -- passed on to the commands
    print(f"{'':34} {'CPU s':>6} {'goal':>5} {'wall s':>7} {'goal':>5} {'x peer':>7}")
    best: dict[str, Spent] = {}
    with tempfile.TemporaryDirectory() as folder:
        os.environ["PYTHONPYCACHEPREFIX"] = f"{folder}/bytecode"  # noqa: TID251 -- passed on to the commands
        configure(folder, SILENT)
        print_rows(WITHOUT_DOCUMENT, folder, options.runs, best)
        for file in options.files:
            of_file = Path(folder, file.stem)
            of_file.mkdir()
            source = json.dumps({"location": str(file.resolve()), "base_url": "http://127.0.0.1:9"})
            configure(str(of_file), f"sources: {{it: {source}}}\nstate_folder: state\ncache_folder: cache\n")
            print(f"{file.name}, {file.stat().st_size / 1e6:.1f} MB")
            print_rows(WITH_DOCUMENT, str(of_file), options.runs, best)


def configure(folder: str, settings: str) -> None:
    Path(folder, "codemode.yaml").write_text(settings, encoding="utf-8")
    Path(folder, "program.py").write_text("return 2\n", encoding="utf-8")


def print_rows(rows: Sequence[Row], folder: str, runs: int, best: dict[str, Spent]) -> None:
    """Measure and print. Runs of the rows alternate; one run before them fills the caches."""
    measured: dict[str, list[Spent]] = {row.name: [] for row in rows}
    for run in range(runs + 1):
        for row in rows:
            spent = row.measure(folder)
            if run:
                measured[row.name].append(spent)
    for row in rows:
        spent = best[row.name] = Spent(*map(min, zip(*measured[row.name], strict=True)))
        goals = [f"{goal:.2f}" if goal else "" for goal in row.goal]
        ratio = spent.processor_s / best[row.peer].processor_s
        print(f"{row.name:34} {spent.processor_s:6.2f} {goals[0]:>5} {spent.wall_s:7.2f} {goals[1]:>5} {ratio:7.1f}")


def command(*arguments: str) -> Callable[[str], Spent]:
    """Return a measurement of a command, from its start to its end."""

    def measure(folder: str) -> Spent:
        clock = Clock()
        subprocess.run(arguments, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
        return clock.read()

    return measure


def python(code: str) -> Callable[[str], Spent]:
    return command(sys.executable, "-c", code)


def greeting(*arguments: str) -> Callable[[str], Spent]:
    """Return a measurement of an MCP server, until its answer to `initialize`."""
    client = {"name": "benchmark", "version": "1"}
    params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client}
    greets = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})

    def measure(folder: str) -> Spent:
        clock = Clock()
        with subprocess.Popen(
            arguments,
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        ) as server:
            assert server.stdin is not None
            assert server.stdout is not None
            server.stdin.write(f"{greets}\n")
            server.stdin.flush()
            assert json.loads(server.stdout.readline())["result"]["serverInfo"]
            wall_s = clock.wall_s()
            server.kill()
        return clock.read()._replace(wall_s=wall_s)

    return measure


def readiness(*arguments: str) -> Callable[[str], Spent]:
    """Return a measurement of an HTTP server, until `/readyz` answers 200. Its port is the last argument."""

    def measure(folder: str) -> Spent:
        port = free_port()
        clock = Clock()
        quiet = subprocess.DEVNULL
        with subprocess.Popen([*arguments, str(port)], cwd=folder, stdout=quiet, stderr=quiet) as server:
            try:
                while not is_ready(port):
                    assert server.poll() is None, "the server ended"
                    assert clock.wall_s() < _HANGS_S, "the server does not become ready"
                    time.sleep(_POLL_S)
                wall_s = clock.wall_s()
            finally:
                server.terminate()
        return clock.read()._replace(wall_s=wall_s)

    return measure


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


def is_ready(port: int) -> bool:
    with suppress(OSError):
        connection = HTTPConnection("127.0.0.1", port, timeout=_HANGS_S)
        connection.request("GET", "/readyz")
        return connection.getresponse().status == 200
    return False


class Clock:
    """Measures the processor time of ended child processes, and wall time."""

    def __init__(self) -> None:
        self._processor_s = _children_s()
        self._began = time.perf_counter()

    def wall_s(self) -> float:
        """Return the wall time so far."""
        return time.perf_counter() - self._began

    def read(self) -> Spent:
        """Return both times so far."""
        return Spent(_children_s() - self._processor_s, self.wall_s())


def _children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


WITHOUT_DOCUMENT = (
    Row("python", python("pass")),
    Row("fastapi", python("from fastapi import FastAPI")),
    Row("fastapi serves", readiness(sys.executable, "-c", FASTAPI)),
    Row("mcp SDK answers", greeting(sys.executable, "-c", MCP)),
    Row("codemode --version", command(COMMAND, "--version"), Spent(0.15, 0)),
    Row("codemode --help", command(COMMAND, "--help"), Spent(0.3, 0)),
    Row("from codemode import CodeMode", python("from codemode import CodeMode"), Spent(0.5, 0), "fastapi"),
    Row("a cold sandbox.Sandbox", python(SANDBOX), Spent(0, 0.4)),
    Row("mcp answers, silent source", greeting(COMMAND, "mcp"), Spent(0, 0.5), "mcp SDK answers"),
)
WITH_DOCUMENT = (
    Row("codemode search", command(COMMAND, "search", "list all"), peer="fastapi"),
    Row("codemode tools", command(COMMAND, "tools"), peer="fastapi"),
    Row("codemode run", command(COMMAND, "run", "program.py"), peer="fastapi"),
    Row("mcp answers", greeting(COMMAND, "mcp"), Spent(0, 0.5), "mcp SDK answers"),
    Row("serve is ready", readiness(COMMAND, "serve", "--port"), Spent(0, 1.0), "fastapi serves"),
)


if __name__ == "__main__":
    main()
