"""Find what a tool does beyond its summary, in its description: `also records the payment`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from codemode.catalog.tool import Effect
from codemode.text.prose import plain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from codemode.catalog.tool import Tool

_MOST_CLAUSES = 3
_LONGEST_CLAUSE = 60  # characters
_LONGEST_DESCRIPTION = 1_000  # characters that are read

#: Verbs of changes, in the third person.
_VERBS = frozenset(
    ("adds", "applies", "archives", "assigns", "blocks", "books", "cancels", "charges", "clears", "closes", "creates",
     "debits", "credits", "deducts", "deletes", "disables", "disconnects", "drops", "emails", "enables", "ends",
     "evicts", "expires", "frees", "gives", "increases", "invalidates", "invites", "locks", "marks",
     "merges", "moves", "notifies", "overwrites", "pauses", "pays", "publishes", "reassigns", "records",
     "reduces", "refunds", "releases", "removes", "replaces", "resets", "restarts", "revokes", "schedules",
     "sells", "sends", "sets", "starts", "stops", "subtracts", "takes", "terminates", "transfers", "triggers",
     "unassigns", "unpublishes", "unsubscribes", "updates", "withdraws")
)  # fmt: skip

_CLAUSE = re.compile(r"(?:, and |, then |[,;:.] | and (?=(?:also )?[a-z]+s\b)| then )")
_FINAL = re.compile(r"cannot be (?:undone|reverted|reversed|restored)|irreversibl[ey]|permanently", re.IGNORECASE)


def side_effects(tool: Tool) -> str:
    """Return the clauses of a description that name further changes, or "" for reads and where there are none."""
    if tool.effect is Effect.READ or not tool.description:
        return ""
    summary = plain(tool.summary).lower()
    clauses = list(dict.fromkeys(_clauses(plain(tool.description[:_LONGEST_DESCRIPTION]), summary)))[:_MOST_CLAUSES]
    final = _FINAL.search(tool.description[:_LONGEST_DESCRIPTION])
    parts = [f"also {', '.join(clauses)}"] if clauses else []
    if final is not None and final[0].lower() not in summary:
        parts.append("cannot be undone")
    return "; ".join(parts)


def _clauses(description: str, summary: str) -> Iterator[str]:
    """Yield the clauses that begin with a verb of a change. The first clause is what the summary says."""
    for clause in _CLAUSE.split(description)[1:]:
        words = clause.removeprefix("also ").rstrip(".").split()
        if not words or words[0].lower() not in _VERBS or words[0].lower()[:4] == summary[:4]:
            continue
        told = " ".join([words[0].lower(), *words[1:]])
        if len(told) <= _LONGEST_CLAUSE:
            yield told
