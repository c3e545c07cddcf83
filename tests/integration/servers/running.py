"""Real services on loopback: started with a folder of their own, waited for, read as a source, and ended."""

from __future__ import annotations

import os
import subprocess
import time
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

import pytest

from codemode import CodeMode
from codemode.settings import Settings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Mapping, Sequence

#: Where the Makefile installs them, each in an environment of its own.
INSTALLED = Path(__file__).parents[3] / ".venv-servers"

_PAUSE_S = 0.2


def program(server: str, name: str) -> str:
    """The path of a server's program, or a skip that says how it is installed."""
    path = INSTALLED / server / "bin" / name
    if not path.exists():
        pytest.skip(f"{server} is not installed: make servers")
    return str(path)


@dataclass(frozen=True)
class Running:
    """A server that answers. `headers` are what it wants with every request."""

    url: str
    folder: Path
    headers: Mapping[str, str] = field(default_factory=dict)

    def document(self, path: str) -> Path:
        """Its own API document, as it serves it, in a file."""
        file = self.folder / "document"
        with urlopen(Request(f"{self.url}{path}", headers=dict(self.headers)), timeout=200) as answer:
            file.write_bytes(answer.read())
        return file

    @asynccontextmanager
    async def codemode(self, name: str, path: str, **source: Any) -> AsyncIterator[CodeMode]:
        """The service with this server as its only source. `path` is where it serves its document."""
        settings = {
            "sources": {name: {"location": str(self.document(path)), "base_url": self.url, **source}},
            "policy": {"default": {"destructive": "allow"}},
            "state_folder": self.folder / "state",
            "cache_folder": self.folder / "cache",
        }
        async with CodeMode.from_settings(Settings.model_validate(settings)) as service:
            yield service


@contextmanager
def running(
    command: Sequence[str],
    url: str,
    folder: Path,
    *,
    ready: str,
    headers: Mapping[str, str] | None = None,
    environment: Mapping[str, str] | None = None,
    within_s: float = 120,
) -> Iterator[Running]:
    """Start a server and wait until it answers at `ready`. Fails with the end of its log where it does not."""
    log = folder / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            list(command),
            cwd=folder,
            stdout=output,
            stderr=subprocess.STDOUT,
            env={"PATH": os.environ["PATH"], "HOME": str(folder), **(environment or {})},  # noqa: TID251
        )
    try:
        server = Running(url, folder, headers or {})
        _wait(process, server, ready, within_s, log)
        yield server
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait(process: subprocess.Popen[bytes], server: Running, ready: str, within_s: float, log: Path) -> None:
    deadline = time.monotonic() + within_s
    while not _answers(f"{server.url}{ready}", server.headers):
        if process.poll() is not None or time.monotonic() > deadline:
            pytest.fail(f"{server.url} did not come up: {log.read_text(errors='replace')[-2000:]}")
        time.sleep(_PAUSE_S)


def _answers(url: str, headers: Mapping[str, str]) -> bool:
    try:
        with urlopen(Request(url, headers=dict(headers)), timeout=5):
            return True
    except HTTPError as error:
        return error.code < 500
    except (URLError, OSError):
        return False


async def value_of(service: CodeMode, code: str) -> Any:
    """The value of a program that must succeed."""
    outcome = await service.execute(code)
    assert outcome.failure is None, outcome.failure
    return outcome.value
