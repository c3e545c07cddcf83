"""A model's text on the terminal: Markdown that is rendered while it arrives, and plain text in a pipe."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from codemode.serving.output import terminal as show

if TYPE_CHECKING:
    from rich.live import Live
    from rich.markdown import Markdown

_FENCE = re.compile(r"^ {0,3}(?:```|~~~)", re.MULTILINE)

#: Blank lines before text that is not indented, and so belongs to no list item above it.
_BREAK = re.compile(r"(?<=\S)[ \t]*+\n(?:[ \t]*+\n)++(?=\S)")


class TextStream:
    """Prints pieces of text. On a terminal, complete blocks are printed once, and the last block is redrawn."""

    def __init__(self) -> None:
        self._open = ""
        self._has_printed = False
        self._live: Live | None = None

    def feed(self, text: str) -> None:
        """Show the next piece."""
        if not show.console.is_terminal:
            show.console.print(show.plain(text), end="", soft_wrap=True)
            return
        blocks, self._open = complete_blocks(self._open + text)
        for block in blocks:
            self._print(block)
        self._redraw()

    def close(self) -> None:
        """Print what remains. The next piece begins a new text."""
        self._stop()
        if self._open.strip():
            self._print(self._open)
        self._open, self._has_printed = "", False

    def _print(self, block: str) -> None:
        self._stop()
        if self._has_printed:
            show.console.print()
        show.console.print(_rendered(block))
        self._has_printed = True

    def _redraw(self) -> None:
        if not self._open.strip():
            return
        if self._live is None:
            from rich.live import Live

            self._live = Live(console=show.console, transient=True, auto_refresh=False)
            self._live.start()
        self._live.update(_rendered(self._open), refresh=True)

    def _stop(self) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None


def complete_blocks(text: str) -> tuple[list[str], str]:
    """Split Markdown into blocks that are complete, and the rest. A fenced block stays whole."""
    blocks = []
    begin = 0
    for found in _BREAK.finditer(text):
        block = text[begin : found.start()]
        if len(_FENCE.findall(block)) % 2 == 0:
            blocks.append(block)
            begin = found.end()
    return [block for block in blocks if block.strip()], text[begin:]


def _rendered(text: str) -> Markdown:
    from rich.markdown import Markdown

    return Markdown(text, hyperlinks=False)  # a link shows where it leads
