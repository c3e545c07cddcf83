"""Whose a record is: the identity of a configuration, under which all that it keeps stands."""

from __future__ import annotations

import re
from hashlib import blake2b
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

if TYPE_CHECKING:
    from pathlib import Path

#: A name is also that of a folder.
ProjectName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,62}$")]

_READABLE_CHARACTERS = 40


def project_of_file(file: Path) -> str:
    """The identity of a configuration file without a `name`: its folder, and a digest of where it is."""
    where = file.resolve()
    return project_of(where.parent.name, str(where))


def project_of(readable: str, *facts: str) -> str:
    """An identity that a person recognises, and that other facts do not share."""
    words = re.sub(r"[^a-z0-9]+", "-", readable.lower()).strip("-")[:_READABLE_CHARACTERS].strip("-")
    digest = blake2b("\0".join(facts).encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
    return f"{words or 'project'}-{digest}"
