"""The service beside FastMCP's code mode, on the same documents: an empty `execute`, and a `search`.

    python -m benchmarks.service [--rounds 30] [--document github.json …]

The gym's document is always measured, and `--document` adds others. Both take turns, so that a disturbance hits both.
Prints medians and ratios. Exits with 1 if the peer did not run.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import time
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from codemode import CodeMode
from codemode.settings import settings_for_document
from codemode.sources.documents.parse import parse_document

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    Work = Callable[[], Awaitable[object]]

QUERY = "list all members who joined this month"
UNUSED = "http://127.0.0.1:9"  # never called


@asynccontextmanager
async def ours(document: Path) -> AsyncIterator[dict[str, Work]]:
    """Open `CodeMode` on a document."""
    async with CodeMode.from_settings(settings_for_document(str(document), base_url=UNUSED)) as service:
        yield {"execute": lambda: service.execute("None"), "search": lambda: service.search(QUERY)}


@asynccontextmanager
async def fastmcp(document: Path) -> AsyncIterator[dict[str, Work]]:
    """Open FastMCP's OpenAPI provider with code mode, and a client in the same process."""
    import httpx2
    from fastmcp import Client, FastMCP
    from fastmcp.experimental.transforms.code_mode import CodeMode as FastMcpCodeMode

    text = await asyncio.to_thread(document.read_text, encoding="utf-8")
    content: Any = parse_document(text, location=str(document))
    async with httpx2.AsyncClient(base_url=UNUSED) as upstream:
        server = FastMCP.from_openapi(content, client=upstream)
        server.add_transform(FastMcpCodeMode())
        async with Client(server) as client:
            yield {
                "execute": lambda: client.call_tool("execute", {"code": "return None"}),
                "search": lambda: client.call_tool("search", {"query": QUERY}),
            }


async def timed(work: Work) -> float:
    """Return the milliseconds that `work` takes, after an idle moment."""
    await asyncio.sleep(0.01)
    started = time.perf_counter()
    await work()
    return (time.perf_counter() - started) * 1000


async def compare(document: Path, rounds: int) -> bool:
    """Print a table for one document. Return whether the peer ran."""
    print(f"\n{document.parent.name if document.stem == 'openapi' else document.stem}")
    async with ours(document) as us:
        try:
            async with fastmcp(document) as them:
                for name in us:
                    await timed(us[name])
                    await timed(them[name])
                    pairs = [(await timed(us[name]), await timed(them[name])) for _ in range(rounds)]
                    mine, theirs = (statistics.median(side) for side in zip(*pairs, strict=True))
                    ratio = statistics.median(their / my for my, their in pairs)
                    print(f"  {name:8} codemode {mine:8.2f} ms   FastMCP {theirs:8.2f} ms   ratio {ratio:6.1f}")
        except Exception as error:  # noqa: BLE001 -- any failure of the peer is reported
            print(f"  FastMCP did not run: {type(error).__name__}: {str(error)[:200]}")
            return False
    return True


async def measure(documents: list[Path], rounds: int) -> bool:
    """Compare on all documents. Return whether the peer ran on each."""
    print(f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC, Python {sys.version.split()[0]}, fastmcp {_version('fastmcp')}")
    return all([await compare(document, rounds) for document in documents])


def _version(package: str) -> str:
    try:
        return version(package)
    except ModuleNotFoundError:
        return "not installed"


def main() -> None:
    """Read the command line and measure."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--document", type=Path, action="append", default=[])
    options = parser.parse_args()
    gym = Path(str(files("api_specs.gym") / "openapi.yaml"))
    sys.exit(0 if asyncio.run(measure([gym, *options.document], options.rounds)) else 1)


if __name__ == "__main__":
    main()
