"""What must hold whatever has happened: the journal and the upstream's own record agree.

What is committed was seen, and what was seen is committed or unknown. Nothing is sent twice but under one key. Every
execution ends or waits for a person, who decides by what the upstream has seen.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from codemode.executions.types.record import Record
from codemode.executions.types.records import Decision
from codemode.gateway.call import CallState

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from codemode.executions.journal.base import Journal
    from codemode.executions.types.record import RecordedCall
    from codemode.executions.types.records import PendingCall, StoredExecution, Verdict
    from tests.nightly.crash.harness import Seen

#: Ends of an execution that wait for a person, or that its program reached.
_GOOD_ENDS = ("completed", "paused")


@dataclass
class Found:
    """What was found, over all rounds."""

    ends: Counter[str] = field(default_factory=Counter)
    writes: Counter[str] = field(default_factory=Counter)
    sent_again: int = 0
    decided: int = 0
    violations: list[str] = field(default_factory=list)


class Check:
    """Compares the executions of a round with what the upstream has seen of them.

    A crash of the database may take the starts of writes under a key. An execution that waits for a person sends them
    again when it goes on.
    """

    def __init__(self, journal: Journal, seen: Seen, found: Found, *, has_crashed: bool) -> None:
        self._journal = journal
        self._found = found
        self._has_crashed = has_crashed
        self._seen: dict[str, dict[str, list[str]]] = defaultdict(dict)
        for (tag, label), keys in seen.items():
            self._seen[tag][label] = keys

    async def executions(self, tags: Mapping[str, str]) -> dict[str, StoredExecution]:
        """Return the execution of each tag. `tags` maps each to the client that sent it."""
        stored: dict[str, list[StoredExecution]] = defaultdict(list)
        for one in await self._journal.list(limit=4 * len(tags) + 100):
            tag = one.request.code.partition("\n")[0].removeprefix("TAG = ").strip("'")
            if tag in tags:
                stored[tag].append(one)
        for tag, all_of in stored.items():
            self._require(len(all_of) == 1, f"{tag} was begun twice: {[one.request.id for one in all_of]}")
        for tag in tags.keys() - stored.keys():
            self._require(not self._seen[tag], f"{tag} has sent {self._seen[tag]}, and is not in the journal")
        owners = defaultdict(set)
        for tag, (one, *_) in stored.items():
            owners[tags[tag]].add(one.request.owner)
        self._require(all(len(ids) == 1 for ids in owners.values()), f"owners by client: {dict(owners)}")
        return {tag: all_of[0] for tag, all_of in stored.items()}

    async def check(self, tag: str, stored: StoredExecution) -> None:
        """Check the record of one execution."""
        execution, seen = f"{tag} {stored.request.id}", self._seen[tag]
        self._found.ends[stored.status] += 1
        failure = ((await self._journal.get(stored.request.id)).outcome or {}).get("failure")
        self._require(stored.status in _GOOD_ENDS, f"{execution} is {stored.status}: {failure}")
        record = Record(stored.request.id, await self._journal.read(stored.request.id))
        writes = {call.arguments["label"]: call for call in record.calls.values() if call.effect == "write"}
        for label, call in writes.items():
            self._check_write(execution, call, seen.get(label, []))
        may_be_lost = ("r", "k") if self._has_crashed and stored.status == "paused" else ("r",)
        for label in seen.keys() - writes.keys():
            is_fine = label.startswith(may_be_lost)
            self._require(is_fine, f"{execution}: {label} was seen as {seen[label]}, and is not recorded")
        unknown = {call.path for call in writes.values() if call.end is None}
        waiting = {call.path for call in await self._journal.pending(execution=stored.request.id)}
        asked = {call.path for call in writes.values() if call.path in unknown and call.tool == "plain.things.write"}
        is_paused = stored.status == "paused"
        is_held = is_paused and not waiting  # a person continues it first: its version is gone, or servers died with it
        self._require(is_held or waiting == asked, f"{execution}: {waiting} are asked about, {asked} are unknown")
        self._require(is_paused or not unknown, f"{execution} has ended, and {unknown} are unknown")

    async def decide(self, waiting: Mapping[str, StoredExecution]) -> None:
        """Decide on the calls of paused executions as a person does who has looked at the upstream."""
        for tag, stored in waiting.items():
            asked = await self._journal.pending(execution=stored.request.id)
            if asked:
                await self._journal.decide([self._answer(tag, call) for call in asked])
                self._found.decided += 1

    def check_again(self, tag: str, later: Seen) -> None:
        """Check what an execution has sent after it was decided on."""
        seen = {label: list(keys) for label, keys in self._seen[tag].items()}
        for (of, label), keys in later.items():
            if of == tag:
                seen.setdefault(label, []).extend(keys)
        for label, keys in seen.items():
            if not label.startswith("r"):
                self._require(_is_once(keys), f"{tag} went on, and has sent {label} as {keys}")

    def _check_write(self, execution: str, call: RecordedCall, keys: Sequence[str]) -> None:
        said = f"{execution}: {call.tool} {call.arguments} was seen as {keys}"
        if call.end is not None:
            self._require(call.end.state is CallState.COMMITTED, f"{said}, and is {call.end.state}")
            self._require(bool(keys), f"{said}, and is committed")
        self._require(_is_once(keys), f"{said}: more than once")
        self._found.sent_again += len(keys) > 1
        self._found.writes["committed" if call.end else "unknown, seen" if keys else "unknown, not seen"] += 1

    def _answer(self, tag: str, call: PendingCall) -> Decision:
        label = call.arguments["label"]
        is_done = label in self._seen[tag]
        verdict: Verdict = "committed" if is_done else "send_again"
        value = {"label": label, "text": ""} if is_done else None
        return Decision(call.id, call.digest, verdict, "a person", value=value)

    def _require(self, holds: bool, what: str) -> None:
        if not holds:
            self._found.violations.append(what)


def _is_once(keys: Sequence[str]) -> bool:
    """Return whether a write was sent once at most, or each time under the same key."""
    return len(keys) <= 1 or (len(set(keys)) == 1 and bool(keys[0]))
