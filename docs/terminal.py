"""Record the terminal of the README: `python docs/terminal.py` writes docs/terminal.svg.

rich draws what the commands print. `make tokens` fetches the data with which tokens are counted exactly.
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

#: What the picture shows, and the options that it leaves out.
COMMANDS = (
    ('codemode search "which trainers work here" --limit 2', "--source {document}"),
    ("codemode demo", ""),
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
    with tempfile.TemporaryDirectory() as folder:
        (HERE / "terminal.svg").write_text(record(Path(folder)), encoding="utf-8")


def record(folder: Path) -> str:
    """The commands and what they print, as SVG. Token counts are exact if `TIKTOKEN_CACHE_DIR` has the data."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # noqa: TID251
    tokenizer = os.environ.get("TIKTOKEN_CACHE_DIR", "")  # noqa: TID251
    terminal = {"COLUMNS": str(WIDTH), "FORCE_COLOR": "1"}
    environment = {"PATH": path, "HOME": str(folder), "TIKTOKEN_CACHE_DIR": tokenizer, **terminal}
    document = files("api_specs.gym") / "openapi.yaml"
    with (folder / "shown").open("w", encoding="utf-8") as shown:
        console = Console(record=True, width=WIDTH, file=shown)
        for command, more in COMMANDS:
            console.print(Text(f"$ {command}", style="bold"))
            words = shlex.split(f"{command} {more.format(document=document)}")
            ended = subprocess.run(words, cwd=folder, env=environment, capture_output=True, check=True)
            console.print(Text.from_ansi(ended.stdout.decode().rstrip()))
            console.print()
        return console.export_svg(title="codemode", theme=MONOKAI, code_format=SVG, unique_id="codemode")


if __name__ == "__main__":
    main()
