"""Code blocks of Markdown pages, and a shell to run them in."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tests.ports import free_port

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[3]

_BLOCK = re.compile(
    r"(?:<!-- not run: (?P<reason>[^\n]+?) -->\n)?^```(?P<language>\w*)\n(?P<text>.*?)^```$", re.M | re.S
)

#: Ports that the pages use; a test replaces them with free ones.
_PORTS = ("8137", "8138")

#: Start the example service and wait until it answers.
SERVICE = """
python -m api_specs.gym --port 8137 --token demo &
curl --silent --retry 40 --retry-connrefused --retry-delay 1 http://127.0.0.1:8137/openapi.json > gym.json
export GYM_TOKEN=demo
"""


@dataclass(frozen=True)
class Block:
    """A fenced code block; `reason` says why a test cannot run it."""

    page: Path
    line: int
    language: str
    text: str
    reason: str | None


def blocks_of(page: Path) -> Iterator[Block]:
    """The code blocks of a page, in order."""
    content = page.read_text(encoding="utf-8")
    for found in _BLOCK.finditer(content):
        line = content[: found.start()].count("\n") + 1
        yield Block(page, line, found["language"], found["text"], found["reason"])


#: Stands for the reader's API in the README. A test serves the example there.
OWN_API = "https://api.example.com"


def shell_of(page: Path) -> str:
    """The shell blocks of a page that can be run, as one script."""
    return "\n".join(block.text for block in blocks_of(page) if block.language == "bash" and block.reason is None)


def on_free_ports(text: str) -> str:
    """The text with free ports, and with more patience for servers that start on a busy machine."""
    for port in _PORTS:
        text = text.replace(port, str(free_port()))
    return text.replace("--retry 40", "--retry 250")


def run_shell(script: str, folder: Path, *, programs: Path = Path(sys.executable).parent, **variables: str) -> str:
    """Run a script that stops at the first error, end what it left running, and return what it printed.

    `programs` is the `bin` folder of the environment whose Python it uses.
    """
    whole = f"set -euo pipefail\ntrap 'kill $(jobs -p) 2>/dev/null || true; wait' EXIT\n{script}"
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"  # noqa: TID251
    environment = {"PATH": path, "HOME": str(folder), "LANG": "C.UTF-8", **variables}
    ended = subprocess.run(["bash", "-c", whole], cwd=folder, env=environment, capture_output=True, text=True)
    assert ended.returncode == 0, f"{ended.stdout[-3000:]}\n{ended.stderr[-3000:]}"
    return ended.stdout
