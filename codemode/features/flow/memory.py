"""What is known of conversations: which text of outsiders their models were shown, and their programs have read.

What servers said of their answers is remembered for other processes, which read a recorded answer again.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections import OrderedDict
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from codemode.shared.values import UNAVAILABLE

if TYPE_CHECKING:
    from codemode.features.flow.marks import Labels
    from codemode.shared.values import SharedValue, ValueStore

log = logging.getLogger(__name__)

#: How long a conversation is remembered after its last program, in seconds.
KEEP_S = 30 * 24 * 3600

#: Conversations that one process remembers by itself, should the store be away.
_MOST_OWN = 10_000

_UNKNOWN = "an earlier answer, as far as is known: the record of this conversation cannot be read"


@dataclass(frozen=True, slots=True)
class Remembered:
    """What untrusted text a conversation's model was shown, and what its programs have read, each "" for none."""

    shown: str = ""
    read: str = ""


class Memory:
    """Remembers conversations in the store that all servers share. Programs without one share that of their key."""

    def __init__(self, store: ValueStore) -> None:
        self._store = store
        self._own: OrderedDict[str, Remembered] = OrderedDict()

    async def recall(self, owner: str, conversation: str) -> Remembered:
        """Return what is known of a conversation. If the store is away, its model has read something."""
        key = _key(owner, conversation)
        own = self._own.get(key, Remembered())
        if own.shown and own.read:
            return own
        try:
            stored = _read(await asyncio.to_thread(self._value(key).read)).get(key)
        except (*UNAVAILABLE, ValueError) as error:
            log.error("flow rules take a conversation for one that has read text of outsiders: %s", error)
            return Remembered(_UNKNOWN, _UNKNOWN)
        return own if stored is None else Remembered(own.shown or stored["shown"], own.read or stored["read"])

    async def remember(self, owner: str, conversation: str, remembered: Remembered) -> None:
        """Keep what is known of a conversation, besides what was known before."""
        key = _key(owner, conversation)
        self._own[key] = remembered
        if len(self._own) > _MOST_OWN:
            self._own.popitem(last=False)

        def changed(data: bytes | None) -> bytes:
            known, now = _read(data), time.time()
            before = known.get(key, {"shown": "", "read": ""})
            both = Remembered(remembered.shown or before["shown"], remembered.read or before["read"])
            others = {one: each for one, each in known.items() if each["until"] > now}
            return json.dumps({**others, key: {**asdict(both), "until": int(now + KEEP_S)}}).encode()

        try:
            await asyncio.to_thread(self._value(key).change, changed)
        except (*UNAVAILABLE, ValueError) as error:
            log.error("flow rules could not record for other servers what a conversation has read: %s", error)

    async def labels(self) -> Labels:
        """Return what servers said of the answers of tools, also to other processes."""
        try:
            stored = _read(await asyncio.to_thread(self._labels.read))
        except (*UNAVAILABLE, ValueError) as error:
            log.error("flow rules cannot read what servers said of their answers: %s", error)
            return {}
        return {tool: (bool(one), bool(other)) for tool, (one, other) in stored.items()}

    async def keep_labels(self, labels: Labels) -> None:
        """Add what servers said of the answers of tools."""

        def changed(data: bytes | None) -> bytes:
            known = _read(data)
            either = {
                tool: [one or old for one, old in zip(label, known.get(tool, label), strict=True)]
                for tool, label in labels.items()
            }
            return json.dumps({**known, **either}).encode()

        try:
            await asyncio.to_thread(self._labels.change, changed)
        except (*UNAVAILABLE, ValueError) as error:
            log.error("flow rules could not record what servers said of their answers: %s", error)

    @property
    def _labels(self) -> SharedValue:
        return self._store.value("flow", "labels")

    def _value(self, key: str) -> SharedValue:
        """Return one of 256 values, so that each stays small."""
        return self._store.value("flow", key[:2])


def _key(owner: str, conversation: str) -> str:
    return sha256(json.dumps([owner, conversation]).encode()).hexdigest()[:32]


def _read(data: bytes | None) -> dict[str, Any]:
    known = json.loads(data) if data is not None else {}
    if not isinstance(known, dict):
        raise ValueError("the record of conversations is damaged")
    return known
