"""What is to become a saved program."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Promotion:
    """What is to be saved from an execution.

    `parameters` are JSON Schemas by the name of the variable. A schema without `type` gets that of the value which the
    program sets the variable to, and the line that sets it is removed.
    """

    execution: str
    name: str
    description: str
    parameters: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    roles: tuple[str, ...] = ()
