"""Runs a program in a process of its own: `python -m tests.integration.codemode.executions.one_process`.

Reads a line of JSON: `folder`, `port` and `sections`, as `Place` has them, and `code`. Writes the status when it ends.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

from tests.integration.codemode.executions.upstream import OWNER, Place, Upstream


async def main() -> None:
    """Run it."""
    given = json.loads(sys.stdin.readline())
    here = Place(Path(given["folder"]), Upstream(), given["port"])
    async with here.service(**given["sections"]) as service:
        outcome = await service.execute(given["code"], caller=OWNER)
    sys.stdout.write(f"{outcome.status}\n")


if __name__ == "__main__":
    asyncio.run(main())
