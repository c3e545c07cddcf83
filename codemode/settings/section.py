"""What every section of the configuration is: frozen, with no key that it does not know."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict


def expanded(path: Path) -> Path:
    """A path as the system knows it: `~` is the home folder. Raises ValueError."""
    if "\0" in str(path):
        raise ValueError("a path holds no character NUL")
    try:
        return path.expanduser()
    except RuntimeError:
        message = f"there is no home folder that {path.parts[0]!r} stands for"
        raise ValueError(message) from None


#: A file or folder of the operator's.
HomePath = Annotated[Path, AfterValidator(expanded)]


class Section(BaseModel):
    """One mapping of `codemode.yaml`."""

    model_config = ConfigDict(extra="forbid", frozen=True)
