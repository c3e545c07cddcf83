"""The calls that a dry run lists instead of sending them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """A write, or a call that needs a person, in a dry run. Nothing was sent.

    - `path`: the path of its ledger entry.
    - `label`: the name of the call in placeholders, such as `gym.clients.create_client #1`.
    - `host`: where the call would go.
    - `arguments`: the arguments, without secrets. They may hold placeholders of earlier calls.
    - `decision`, `rule`: the policy's, for these arguments. `ask`: a real run would wait for a person.
    """

    path: str
    label: str
    tool: str
    effect: str
    host: str
    arguments: dict[str, Any]
    decision: str
    rule: str

    def __str__(self) -> str:
        shown = ", ".join(f"{name}={value!r}" for name, value in self.arguments.items())
        return f"{self.decision}: {self.tool}({shown}) at {self.host}"
