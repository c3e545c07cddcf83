# ruff: noqa: D102 - Engine documents the methods
"""Adapters: one class for each engine, with methods to start it, run a program, and stop it.

`run` takes a program of `engine_programs` and returns its value as Python objects. `start` raises if the package or
command of the engine is missing; `engines.py` reports that as a failure.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
import sys
from abc import ABC, abstractmethod
from importlib.metadata import version
from typing import Any

from benchmarks import engine_programs as programs


async def tool(x: int = 0) -> int:
    """Answer at once."""
    return 1


async def slow_tool(x: int = 0) -> int:
    """Answer after the pause of the parallel workload."""
    await asyncio.sleep(programs.PAUSE_S)
    return 1


class Engine(ABC):
    """An engine, with its name and the kinds of parallel calls that it supports."""

    name = ""
    #: The dialect: the expression for a tool call, and the one for awaiting `main`.
    call = "tool(x=i)"
    run_async = "await main()"
    parallel: tuple[str, ...] = ("gather",)

    def version(self) -> str:
        """Return the version of the engine."""
        return version(self.name)

    async def start(self) -> None:  # noqa: B027 -- optional
        """Start the engine."""

    @abstractmethod
    async def run(self, code: str, *, handler: Any = tool) -> Any:
        """Run one program and return its value."""

    async def stop(self) -> None:  # noqa: B027 -- optional
        """Stop the engine and release its resources."""


class Ours(Engine):
    """This project's sandbox: one isolated, single-use process for each run."""

    name = "sandbox"
    call = "ns.tool(x=i)"
    parallel = ("gather", "executor")

    def version(self) -> str:
        return version("codemode")

    async def start(self) -> None:
        from sandbox import Limits, Sandbox

        self.sandbox = Sandbox(workers=4, limits=Limits(memory_bytes=1 << 30, wall_s=120, cpu_s=100))
        await self.sandbox.start()

    async def run(self, code: str, *, handler: Any = tool) -> Any:
        async def answer(call: Any) -> Any:
            return await handler(**call.arguments)

        outcome = await self.sandbox.run(code, names=("ns",), call=answer)
        assert outcome.ok, outcome.failure
        return outcome.value

    async def stop(self) -> None:
        await self.sandbox.aclose()


class BareExec(Engine):
    """`exec` in the host process, without isolation: the lower bound of the time."""

    name = "exec"
    call = "tool(i)"
    parallel = ("executor",)

    def version(self) -> str:
        return sys.version.split()[0]

    async def run(self, code: str, *, handler: Any = tool) -> Any:
        loop = asyncio.get_running_loop()

        def call(x: int = 0) -> int:
            if handler is tool:
                return 1
            return int(asyncio.run_coroutine_threadsafe(handler(x), loop).result())

        names: dict[str, Any] = {"tool": call}
        text = with_result(code)
        if handler is tool:
            exec(compile(text, "<program>", "exec"), names)  # noqa: S102 - the subject of the measurement
        else:
            await asyncio.to_thread(exec, compile(text, "<program>", "exec"), names)
        return names["result"]


class MontyReused(Engine):
    """Monty with its defaults: a fresh heap for each run, in a reused worker process."""

    name = "pydantic-monty"
    call = "tool(x=i)"
    once = False

    async def start(self) -> None:
        import pydantic_monty

        once = {"max_checkouts_per_worker": 1, "min_processes": 4, "max_processes": 8}
        options: dict[str, Any] = once if self.once else {}
        self.pool = pydantic_monty.Monty(**options)
        self.pool.__enter__()
        self.async_pool = pydantic_monty.AsyncMonty(**options)
        await self.async_pool.__aenter__()

    async def run(self, code: str, *, handler: Any = tool) -> Any:
        if handler is tool:
            with self.pool.checkout() as session:
                return session.feed_run(code, external_lookup={"tool": lambda x=0: 1})
        async with self.async_pool.checkout() as session:
            return await session.feed_run(code, external_lookup={"tool": handler})

    async def stop(self) -> None:
        self.pool.__exit__(None, None, None)
        await self.async_pool.__aexit__(None, None, None)


class MontySingleUse(MontyReused):
    """Monty with one worker process for each run, like this project."""

    once = True


class Smolagents(Engine):
    """smolagents: an interpreter of syntax trees in the host process."""

    name = "smolagents"
    call = "tool(x=i)"
    parallel = ("one by one",)

    async def start(self) -> None:
        from smolagents.local_python_executor import LocalPythonExecutor

        self.executor_type = LocalPythonExecutor

    async def run(self, code: str, *, handler: Any = tool) -> Any:
        loop = asyncio.get_running_loop()

        def call(x: int = 0) -> int:
            if handler is tool:
                return 1
            return int(asyncio.run_coroutine_threadsafe(handler(x), loop).result())

        executor = self.executor_type(additional_authorized_imports=[], timeout_seconds=None)
        executor.send_tools({"tool": call})
        if handler is tool:
            return executor(code).output
        return (await asyncio.to_thread(executor, code)).output


class FastMcpCodeMode(Engine):
    """FastMCP's code mode: its execute tool, called by a client in the same process."""

    name = "fastmcp"
    call = "(await call_tool('tool', {'x': i}))['result']"

    async def start(self) -> None:
        from fastmcp import Client, FastMCP
        from fastmcp.experimental.transforms.code_mode import CodeMode, MontySandboxProvider

        self.handler: Any = tool
        server = FastMCP("bench")

        @server.tool(name="tool")  # type: ignore[untyped-decorator,unused-ignore]  # not installed for all that look
        async def answer(x: int = 0) -> int:
            return int(await self.handler(x))

        # The default limits, 50 calls and 100 MB, are too low for the workloads.
        server.add_transform(CodeMode(max_tool_calls=None, sandbox_provider=MontySandboxProvider(limits=None)))
        self.client = Client(server)
        await self.client.__aenter__()

    async def run(self, code: str, *, handler: Any = tool) -> Any:
        self.handler = handler
        lines = code.strip().splitlines()
        last = max(n for n, line in enumerate(lines) if not line.startswith((" ", "]", "}", ")")))
        lines[last] = "return " + lines[last]
        result = await self.client.call_tool("execute", {"code": "\n".join(lines)})
        return result.data if result.data is not None else json.loads(result.content[0].text)

    async def stop(self) -> None:
        await self.client.__aexit__(None, None, None)


class PythonProcess(Engine):
    """`python -I -S -c`: a new process for each run, which prints its result as JSON."""

    name = "python -c"
    call = "tool(i)"
    parallel = ()
    prefix: tuple[str, ...] = ()

    def version(self) -> str:
        return sys.version.split()[0]

    async def run(self, code: str, *, handler: Any = tool) -> Any:
        text = _PROCESS.replace("PROGRAM", repr(with_result(code)))
        done = subprocess.run(  # noqa: ASYNC221 - nothing else runs in this measurement
            [*self.prefix, sys.executable, "-I", "-S", "-c", text], capture_output=True, check=True
        )
        return json.loads(done.stdout)


class Bubblewrap(PythonProcess):
    """A Python process in bubblewrap: own namespaces, read-only files, no network."""

    name = "bubblewrap"

    def version(self) -> str:
        path = shutil.which("bwrap") or "bwrap"
        return subprocess.run([path, "--version"], capture_output=True, text=True, check=True).stdout.split()[-1]

    async def start(self) -> None:
        if shutil.which("bwrap") is None:
            raise RuntimeError("bwrap is not installed (apt-get install bubblewrap)")
        self.prefix = ("bwrap", "--ro-bind", "/", "/", "--unshare-all", "--die-with-parent")


def with_result(code: str) -> str:
    """Assign the value of the last expression to `result`."""
    import ast

    tree = ast.parse(code)
    last = tree.body[-1]
    assert isinstance(last, ast.Expr)
    tree.body[-1] = ast.Assign([ast.Name("result", ast.Store())], last.value)
    return ast.unparse(ast.fix_missing_locations(tree))


_PROCESS = """
import json, sys
names = {"tool": lambda x=0: 1}
exec(PROGRAM, names)
sys.stdout.write(json.dumps(names["result"]))
"""

ENGINES: tuple[type[Engine], ...] = (
    Ours,
    BareExec,
    MontyReused,
    MontySingleUse,
    Smolagents,
    FastMcpCodeMode,
    PythonProcess,
    Bubblewrap,
)
