"""Run a program in a process of its own: `python -m tests.integration.codemode.executions.one_process`.

Reads one line of JSON with `folder`, `port`, `sections` (as in `Place`), `code` and perhaps `conversation` and `plan`.
Prints the final status.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

from tests.integration.codemode.executions.upstream import OWNER, Place, Upstream


async def main() -> None:
    """Run the program."""
    given = json.loads(sys.stdin.readline())
    here = Place(Path(given["folder"]), Upstream(), given["port"])
    async with here.service(**given["sections"]) as service:
        outcome = await service.execute(
            given["code"], plan=given.get("plan", ""), caller=OWNER, conversation=given.get("conversation", "")
        )
    sys.stdout.write(f"{outcome.status}\n")


if __name__ == "__main__":
    asyncio.run(main())
