"""A decision that is remembered: one call of one caller is approved again, for a time."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from codemode.text.times import rfc3339

if TYPE_CHECKING:
    from collections.abc import Mapping

#: How far an approval reaches: the conversation of its execution, or an hour of its caller's programs.
RememberScope = Literal["conversation", "hour"]

#: How long each of them holds, in seconds. A conversation may go on for longer, and a person is asked again then.
LIFE_S: Mapping[RememberScope, int] = {"conversation": 24 * 3600, "hour": 3600}


@dataclass(frozen=True, slots=True)
class Remembered:
    """An approval of a call that holds for the same call later.

    - `approval`, `execution`, `path`, `digest`: the call that a person has seen, with its exact arguments.
    - `owner`, `role`: the caller whose calls it covers. `conversation` is the digest of the one that it holds in, ""
      for all of the caller's.
    - `arguments`: as the person saw them; secrets are digests.
    - `by`, `note`: who approved, and why. `at` and `expires` are seconds since 1970.
    - `revoked_by`: who ended it early, "" for nobody.
    """

    id: str
    approval: str
    execution: str
    path: str
    digest: str = field(repr=False)
    tool: str
    owner: str
    role: str
    conversation: str
    arguments: Mapping[str, Any] = field(repr=False)
    by: str
    note: str
    at: float
    expires: float
    revoked_by: str = ""

    def holds(self, now: float) -> bool:
        """Return whether it still covers calls."""
        return not self.revoked_by and now < self.expires

    def to_json(self, now: float) -> dict[str, Any]:
        """Return what people and clients read of it, as JSON data."""
        return {
            "id": self.id,
            "approval": self.approval,
            "tool": self.tool,
            "arguments": dict(self.arguments),
            "owner": self.owner,
            "reaches": "one conversation" if self.conversation else "all of the key",
            "by": self.by,
            "note": self.note,
            "decided": rfc3339(int(self.at * 1_000_000)),
            "expires": rfc3339(int(self.expires * 1_000_000)),
            "status": self.status(now),
        }

    def status(self, now: float) -> str:
        """Return what people read of it."""
        if self.revoked_by:
            return f"revoked by {self.revoked_by}"
        return "in force" if now < self.expires else "over"
