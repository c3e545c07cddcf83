"""The process that reads sources, as the host sees it: it is started once, and again after a source ended it."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from contextlib import suppress
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from sandbox.errors import WorkerError
from sandbox.host.launch import import_folders
from sandbox.outcome import CallSite, Failure, Refusal

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from sandbox.limits import Limits

_START = "import sys; sys.path[:0] = sys.argv[1:]; from sandbox.monty.reading import main; main()"

#: Time for one source. The longest that the limits allow takes a second.
_TIMEOUT_S = 10.0
#: Longest answer: the call sites and refusals of the longest source.
_ANSWER_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Reading:
    """What a source shows before it runs.

    `text` is the program itself, without marks around it. `parallel` has the calls whose value is only awaited, as
    ranges of bytes in `text`. `returns` tells whether the program ends with a value.
    """

    text: str
    returns: bool
    sites: tuple[CallSite, ...]
    parallel: frozenset[tuple[int, int]]
    refusals: tuple[Refusal, ...]


class SourceReader:
    """Reads one source at a time."""

    def __init__(self) -> None:
        self._process: asyncio.subprocess.Process | None = None
        self._turn = asyncio.Lock()

    async def read(
        self, code: str, names: Collection[str], limits: Limits, values: Mapping[str, str] = MappingProxyType({})
    ) -> Reading | Failure:
        """Return what a source shows, or why it is no program. Raises WorkerError.

        `values` maps names that the program may read to the functions that return their values.
        """
        request = {
            "code": code,
            "names": sorted(names),
            "values": dict(values),
            "limit_bytes": limits.source_bytes,
            "limit_depth": limits.source_depth,
        }
        async with self._turn:
            try:
                answer = json.loads(await asyncio.wait_for(self._ask(json.dumps(request).encode()), _TIMEOUT_S))
            except (TimeoutError, OSError, ValueError):
                await self._end()
                return Failure("WorkerCrashed", "the program's source could not be read", hint="simplify the program")
            except asyncio.CancelledError:
                await self._end()  # its answer would be taken for the next one
                raise
        return Failure(**answer["failure"]) if "failure" in answer else _reading(answer)

    async def aclose(self) -> None:
        """End the process."""
        async with self._turn:
            await self._end()

    async def _ask(self, request: bytes) -> bytes:
        process = self._process or await self._start()
        assert process.stdin is not None  # noqa: S101 - `_start` makes them pipes
        assert process.stdout is not None  # noqa: S101
        process.stdin.write(request + b"\n")
        await process.stdin.drain()
        return await process.stdout.readline()

    async def _start(self) -> asyncio.subprocess.Process:
        windows = {name: os.environ[name] for name in ("SYSTEMROOT",) if name in os.environ}  # noqa: TID251 - it needs it
        try:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                *("-I", "-S", "-X", "utf8", "-c", _START, *import_folders()),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.DEVNULL,
                limit=_ANSWER_BYTES,
                env=windows,
            )
        except OSError as error:
            message = f"the reader of sources could not be started with {sys.executable}: {error}"
            raise WorkerError(message) from error
        return self._process

    async def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()


def _reading(answer: dict[str, Any]) -> Reading:
    return Reading(
        text=answer["text"],
        returns=answer["returns"],
        sites=tuple(CallSite(**{**site, "keywords": tuple(site["keywords"])}) for site in answer["sites"]),
        parallel=frozenset((start, end) for start, end in answer["parallel"]),
        refusals=tuple(Refusal(**refusal) for refusal in answer["refusals"]),
    )
