"""The calls that a dry run lists instead of sending them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from codemode.gateway.redaction import REDACTED
from codemode.text.visible import marked

if TYPE_CHECKING:
    from collections.abc import Callable

#: Hexadecimal digits of the keyed digest that replaces a secret.
SECRET_DIGITS = 24


@dataclass(frozen=True, slots=True)
class PlannedCall:
    """A write, or a call that needs a person, in a dry run. Nothing was sent.

    - `path`: the path of its ledger entry.
    - `label`: the name of the call in placeholders, such as `gym.clients.create_client #1`.
    - `host`: where the call would go.
    - `arguments`: the arguments, without secrets. They may hold placeholders of earlier calls.
    - `decision`, `rule`: the policy's, for these arguments. `ask`: a real run would wait for a person.
    - `digest`: the journal's keyed digest of the tool and its exact arguments, "" without a journal.
    - `definition`: the journal's keyed digest of the tool's definition, location and account, "" without a journal.
    - `account`: whose credentials would be sent, where the source has several.
    """

    path: str
    label: str
    tool: str
    effect: str
    host: str
    arguments: dict[str, Any]
    decision: str
    rule: str
    digest: str = ""
    definition: str = ""
    account: str = ""

    def __str__(self) -> str:
        shown = ", ".join(f"{name}={value!r}" for name, value in self.arguments.items())
        whose = f" as {self.account}" if self.account else ""
        return marked(f"{self.decision}: {self.tool}({shown}) at {self.host}{whose}")


def no_digest(_: Any) -> str:
    """Return no digest: the default without a journal."""
    return ""


@dataclass(slots=True)
class Listing:
    """What a dry run lists: planned `calls`, and `reads` that were not sent because an argument holds a placeholder.

    `digest` is the journal's keyed digest.
    """

    digest: Callable[[Any], str] = no_digest
    calls: list[PlannedCall] = field(default_factory=list)
    reads: list[PlannedCall] = field(default_factory=list)

    def masked(self, secret: object) -> str:
        """Return the replacement of a secret argument, as recorded executions show it."""
        digest = self.digest(secret)
        return f"[secret {digest[:SECRET_DIGITS]}]" if digest else REDACTED
