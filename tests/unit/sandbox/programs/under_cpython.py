"""Run programs under plain CPython, each in a process of its own: JSON in (a list of texts), JSON out.

For each program what it printed, and the name of the error that ended it.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import os
import sys
import types


def run(code: str) -> tuple[str, str]:
    """Run one program as a script."""
    printed, failed = io.StringIO(), ""
    module = sys.modules["__main__"] = types.ModuleType("__main__")
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()):
        try:
            exec(compile(code, "<program>", "exec", dont_inherit=True), module.__dict__)  # noqa: S102 - that is the point
        except BaseException as error:  # noqa: BLE001 - any end is compared
            failed = type(error).__name__
    return printed.getvalue(), failed


def main() -> None:
    """Answer on standard output."""
    results = []
    sys.argv = ["program"]
    for code in json.load(sys.stdin):
        ours, theirs = os.pipe()
        process = os.fork()
        if not process:
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            sys.stdin = io.StringIO()
            os.write(theirs, json.dumps(run(code)).encode())
            os._exit(0)
        os.close(theirs)
        with os.fdopen(ours) as answer:
            results.append(json.loads(answer.read() or '["", "killed"]'))
        os.waitpid(process, 0)
    json.dump(results, sys.stdout)


if __name__ == "__main__":
    _ = asyncio  # imported once, before the processes part
    main()
