"""The name of a project, to which everything that codemode stores belongs."""

from __future__ import annotations

import re
from hashlib import blake2b
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

if TYPE_CHECKING:
    from pathlib import Path

#: The name is also a folder name.
ProjectName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$")]

_READABLE_CHARACTERS = 40


def project_of_file(file: Path) -> str:
    """Return the name of a configuration file without `name`: its folder name, and a digest of its path."""
    where = file.resolve()
    return project_of(where.parent.name, str(where))


def project_of(readable: str, *facts: str) -> str:
    """Return a readable name with a digest of the facts, so that other facts give another name."""
    words = re.sub(r"[^a-z0-9]+", "-", readable.lower()).strip("-")[:_READABLE_CHARACTERS].strip("-")
    digest = blake2b("\0".join(facts).encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
    return f"{words or 'project'}-{digest}"
