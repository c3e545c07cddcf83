"""Imports of agent frameworks, which are not dependencies of this package."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from codemode.errors import EnvironmentIncomplete

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def needs(package: str) -> Iterator[None]:
    """Import a framework in the block. Raises EnvironmentIncomplete with the pip command if it cannot be imported."""
    try:
        yield
    except ImportError as error:
        message = f"this adapter needs {package} ({error}): pip install {package}"
        raise EnvironmentIncomplete(message) from error
