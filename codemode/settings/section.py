"""The base class of all sections, and the type of paths in them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict


def expanded(path: Path) -> Path:
    """Return a path with `~` replaced by the home folder. Raises ValueError."""
    if "\0" in str(path):
        raise ValueError("a path cannot contain the character NUL")
    try:
        return path.expanduser()
    except RuntimeError:
        message = f"no home folder is known for {path.parts[0]!r}"
        raise ValueError(message) from None


#: A file or folder. `~` is the home folder.
HomePath = Annotated[Path, AfterValidator(expanded)]


class Section(BaseModel):
    """One mapping of `codemode.yaml`. It is frozen and rejects unknown keys."""

    model_config = ConfigDict(extra="forbid", frozen=True)
