"""Word list files: one entry a line, `#` for comments."""

from __future__ import annotations

from importlib.resources import files


def lines(name: str) -> list[str]:
    """Return the entries of a word list file."""
    content = files(__name__).joinpath(name).read_text(encoding="utf-8")
    return [line for line in content.splitlines() if line.strip() and not line.startswith("#")]
