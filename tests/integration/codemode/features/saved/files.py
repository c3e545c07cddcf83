"""Files of saved programs, as a person would write them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.integration.codemode.executions.upstream import Place

_CALLED = re.compile(r"\b(?:up\.x|saved)\.\w+")


def save(here: Place, name: str, code: str, *, effect: str = "write", **header: Any) -> None:
    """Write the file of a saved program. `header` has more keys, as YAML. Its tools are by default those of `code`."""
    folder = here.folder / "programs"
    folder.mkdir(exist_ok=True)
    called = sorted(set(_CALLED.findall(code)))
    if called:
        header.setdefault("tools", f"[{', '.join(called)}]")
    lines = {"description": f"The program {name}.", "effect": effect, **header}
    block = "\n".join(f"# {key}: {value}" for key, value in lines.items())
    (folder / f"{name}.py").write_text(f"# /// codemode\n{block}\n# ///\n{code}\n", encoding="utf-8")


def saved(here: Place) -> dict[str, Any]:
    """Return the section of the configuration."""
    return {"saved": {"folder": str(here.folder / "programs")}}
