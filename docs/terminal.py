"""Record the terminal of the README: `python docs/terminal.py` writes docs/terminal.svg.

The commands run against the example service, and rich draws what they print.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
from importlib.resources import files
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

HERE = Path(__file__).parent
WIDTH = 100
TOKEN = "demo"  # noqa: S105 -- of the example service

PROGRAM = """\
import asyncio

trainers = gym.trainers.get_trainers_list(limit=3)["items"]
counts = await asyncio.gather(*[gym.clients.get_clients_list(trainerId=t["id"]) for t in trainers])
{trainer["lastName"]: clients["total"] for trainer, clients in zip(trainers, counts)}
"""

CONFIGURATION = """\
sources:
  gym:
    location: {document}
    base_url: {url}
    credentials: [{{kind: bearer, token: {{env: GYM_TOKEN}}}}]
"""

COMMANDS = (
    'codemode search "which trainers work here" --limit 2',
    "cat program.py",
    "codemode run program.py",
)

#: As rich draws it, without the fonts that it would load from another host.
SVG = """\
<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, Menlo, Consolas, monospace; font-size: {char_height}px;
  line-height: {line_height}px; }}
{styles}
</style>
<defs><clipPath id="{unique_id}-clip-terminal"><rect width="{terminal_width}" height="{terminal_height}"/></clipPath>
{lines}</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g></g>
</svg>
"""


def main() -> None:
    """Run the commands and write the picture."""
    service = [sys.executable, "-m", "api_specs.gym", "--port", "0", "--token", TOKEN]
    with (
        subprocess.Popen(service, stdout=subprocess.PIPE, text=True) as gym,
        tempfile.TemporaryDirectory() as folder,
    ):
        try:
            assert gym.stdout is not None  # noqa: S101 -- it is piped
            url = gym.stdout.readline().split()[1]
            picture = record(Path(folder), url)
        finally:
            gym.terminate()
    (HERE / "terminal.svg").write_text(picture, encoding="utf-8")


def record(folder: Path, url: str) -> str:
    """The commands and what they print, as SVG."""
    document = files("api_specs.gym") / "openapi.yaml"
    (folder / "codemode.yaml").write_text(CONFIGURATION.format(document=document, url=url), encoding="utf-8")
    (folder / "program.py").write_text(PROGRAM, encoding="utf-8")
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # noqa: TID251
    environment = {"PATH": path, "HOME": str(folder), "GYM_TOKEN": TOKEN, "COLUMNS": str(WIDTH), "FORCE_COLOR": "1"}
    with (folder / "shown").open("w", encoding="utf-8") as shown:
        console = Console(record=True, width=WIDTH, file=shown)
        for command in COMMANDS:
            console.print(Text(f"$ {command}", style="bold"))
            ended = subprocess.run(shlex.split(command), cwd=folder, env=environment, capture_output=True, check=True)
            console.print(Text.from_ansi(ended.stdout.decode().rstrip()))
            console.print()
        return console.export_svg(title="codemode", theme=MONOKAI, code_format=SVG, unique_id="codemode")


if __name__ == "__main__":
    main()
