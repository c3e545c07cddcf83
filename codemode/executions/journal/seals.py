"""Seals: keyed codes over what the journal holds, so that a row that was edited by hand is seen to be damaged.

They bind what was given to its execution and project, what a person is shown to the digest of what is sent, an answer
to its question, and each entry to all before it. Whoever has not the key can neither change nor add a row. Two things
no code in the same database can show: that the end of an execution that still runs was cut off, and that all rows of
one were put back as they were earlier.

A seal is BLAKE2b in keyed mode (RFC 7693), a message authentication code by itself: a third of the time of HMAC for
what is small. What is large goes in as its SHA-256, which processors have instructions for.
"""

from __future__ import annotations

import hmac
from collections import OrderedDict
from functools import lru_cache
from hashlib import blake2b, sha256
from typing import TYPE_CHECKING

from codemode.executions.journal.base import OPEN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codemode.executions.journal.base import Lease
    from codemode.executions.journal.key import DigestKey

    Part = str | bytes | int | None

#: Bytes of a seal.
SEAL_BYTES = 16

_LARGE_BYTES = 4096

#: Executions of which the last entry is remembered; more run on no server at once.
_REMEMBERED = 4096

NOT_AS_WRITTEN = "it is not as it was written: its seal does not hold"


class Lasts(OrderedDict["Lease", tuple[int, bytes]]):
    """The last entry, by its number or place, and its seal, of what a server holds: it alone adds to that.

    A look at the row would cost as much as writing it. Those that were written longest ago are forgotten.
    """

    def remember(self, lease: Lease, last: tuple[int, bytes]) -> None:
        """Note what was written."""
        self[lease] = last
        self.move_to_end(lease)
        while len(self) > _REMEMBERED:
            self.popitem(last=False)


class Seals:
    """The seals of one project with the journal's key.

    Executions with a number up to `sealed_from` are of an earlier version: they have no seals, and have ended.
    """

    def __init__(self, key: DigestKey, project: str = "") -> None:
        self.key = key
        self.project = project
        self.sealed_from = 0
        self.lasts = Lasts()
        self._code = lru_cache(16)(lambda kind: blake2b(key=key.for_seals, digest_size=SEAL_BYTES, person=kind))

    def seal(self, kind: bytes, *parts: Part) -> bytes:
        """The seal over parts, in this order; `kind` (16 bytes at most) keeps one from passing for another's."""
        code = self._code(kind).copy()
        code.update(b"".join(_framed(part) for part in parts))
        return code.digest()

    def holds(self, seal: bytes | None, kind: bytes, *parts: Part) -> bool:
        """Whether a seal is that of the parts."""
        return seal is not None and hmac.compare_digest(bytes(seal), self.seal(kind, *parts))

    def require(self, seal: bytes | None, kind: bytes, *parts: Part) -> None:
        """Raise ValueError where a seal is not that of the parts."""
        if not self.holds(seal, kind, *parts):
            raise ValueError(NOT_AS_WRITTEN)

    def entry(self, before: bytes, sequence: int, line: tuple[str, str, bytes | None]) -> bytes:
        """The seal of an entry; `before` is that of the one before, or of what was given."""
        return self.seal(b"entry", before, sequence, *line)

    def outcome(self, execution: str, sealed_to: int, last: bytes | None, status: str, text: str) -> bytes:
        """The seal of an outcome with the number of entries before it, and the seal of the last of these."""
        return self.seal(b"outcome", execution, sealed_to, last, status, text)

    def verdict(self, question: str, asked: bytes, verdict: str, answer: str, now: int) -> bytes:
        """The seal of an answer to the question that has the seal `asked`."""
        return self.seal(b"verdict", question, asked, verdict, answer, now)

    def is_sealed(self, number: int, status: str) -> bool:
        """Whether an execution has seals. Raises ValueError for one that may go on, and has none."""
        if number > self.sealed_from:
            return True
        if status in OPEN:
            raise ValueError("it is of an earlier version, and has not ended")
        return False

    def require_given(self, row: Sequence[Part]) -> None:
        """Check (seal, number, project, owner, request_key, request_digest, given). Raises ValueError."""
        seal, *parts = row
        self.require(_bytes(seal), b"given", *parts)

    def require_outcome(self, status: str, outcome: str | None, row: Sequence[Part]) -> None:
        """Check (seal, id, number of entries, seal of the last) of an outcome. Raises ValueError.

        What was paused keeps that outcome while it runs again, and where it has expired.
        """
        if outcome is None:
            if status not in ("queued", "running"):
                raise ValueError("it is missing")
            return
        seal, *parts = row
        was = "paused" if status in OPEN or status == "expired" else status
        self.require(_bytes(seal), b"outcome", *parts, was, outcome)


def _bytes(part: Part) -> bytes | None:
    return part if part is None else bytes(part)  # type: ignore[arg-type]


def _framed(part: Part) -> bytes:
    """A part with its length, or two parts could be cut at another place."""
    if part is None:
        return b"-"
    data = part if isinstance(part, bytes) else str(part).encode("utf-8", "surrogatepass")
    return b"%d:%b" % (len(data), data if len(data) <= _LARGE_BYTES else sha256(data).digest())
