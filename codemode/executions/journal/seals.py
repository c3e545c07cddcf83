"""Seals: message authentication codes over journal rows, which reveal edits by hand.

They bind an execution's fixed facts to its project, a question to the digest of what is sent, an answer to its
question, and each entry to all earlier ones. Without the key, no row can be changed or added. Two attacks cannot be
detected from inside the database: truncating a running execution, and restoring all rows of an execution to an earlier
state.

A seal is BLAKE2b in keyed mode (RFC 7693), which for small data takes a third of the time of HMAC. Large data enters as
its SHA-256, which processors accelerate.
"""

from __future__ import annotations

import hmac
from collections import OrderedDict
from functools import lru_cache
from hashlib import blake2b, sha256
from typing import TYPE_CHECKING

from codemode.executions.types.records import OPEN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codemode.executions.journal.key import DigestKey
    from codemode.executions.types.records import Lease

    Part = str | bytes | int | None

#: Size of a seal, in bytes.
SEAL_BYTES = 16

_LARGE_BYTES = 4096

#: Executions whose last entry is remembered; more than run on one server at a time.
_REMEMBERED = 4096

NOT_AS_WRITTEN = "its seal does not match: it was changed after it was written"


class LastSeals(OrderedDict["Lease", tuple[int, bytes]]):
    """The last entry (number or place) and its seal for each lease of this server, which alone appends to it.

    Looking it up would cost as much as a write. The least recently written are forgotten.
    """

    def remember(self, lease: Lease, last: tuple[int, bytes]) -> None:
        """Remember what was written."""
        self[lease] = last
        self.move_to_end(lease)
        while len(self) > _REMEMBERED:
            self.popitem(last=False)


class Seals:
    """The seals of one project, made with the journal's key.

    Executions numbered up to `sealed_from` come from an earlier version: they have ended and have no seals.
    """

    def __init__(self, key: DigestKey, project: str = "") -> None:
        self.key = key
        self.project = project
        self.sealed_from = 0
        self.lasts = LastSeals()
        self._code = lru_cache(16)(lambda kind: blake2b(key=key.for_seals, digest_size=SEAL_BYTES, person=kind))

    def seal(self, kind: bytes, *parts: Part) -> bytes:
        """Return the seal over parts, in order. `kind` (at most 16 bytes) separates the purposes of seals."""
        code = self._code(kind).copy()
        code.update(b"".join(_framed(part) for part in parts))
        return code.digest()

    def holds(self, seal: bytes | None, kind: bytes, *parts: Part) -> bool:
        """Return whether a seal matches the parts."""
        return seal is not None and hmac.compare_digest(bytes(seal), self.seal(kind, *parts))

    def require(self, seal: bytes | None, kind: bytes, *parts: Part) -> None:
        """Raise ValueError if a seal does not match the parts."""
        if not self.holds(seal, kind, *parts):
            raise ValueError(NOT_AS_WRITTEN)

    def entry(self, before: bytes, sequence: int, line: tuple[str, str, bytes | None]) -> bytes:
        """Return the seal of an entry. `before` is the seal of the previous entry, or of the fixed facts."""
        return self.seal(b"entry", before, sequence, *line)

    def outcome(self, execution: str, sealed_to: int, last: bytes | None, status: str, text: str) -> bytes:
        """Return the seal of an outcome, over the number of entries before it and the seal of the last one."""
        return self.seal(b"outcome", execution, sealed_to, last, status, text)

    def verdict(self, question: str, asked: bytes, verdict: str, answer: str, now: int) -> bytes:
        """Return the seal of an answer to the question with the seal `asked`."""
        return self.seal(b"verdict", question, asked, verdict, answer, now)

    def is_sealed(self, number: int, status: str) -> bool:
        """Return whether an execution has seals. Raises ValueError for an open one without seals."""
        if number > self.sealed_from:
            return True
        if status in OPEN:
            raise ValueError("it is from an earlier version, and has not ended")
        return False

    def require_given(self, row: Sequence[Part]) -> None:
        """Check (seal, number, project, owner, request_key, request_digest, given). Raises ValueError."""
        seal, *parts = row
        self.require(_bytes(seal), b"given", *parts)

    def require_outcome(self, status: str, outcome: str | None, row: Sequence[Part]) -> None:
        """Check (seal, id, number of entries, seal of the last) of an outcome. Raises ValueError.

        The outcome of a pause remains while the execution runs again, and if it expires.
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
    """Return a part with its length, so that no two lists of parts have the same encoding."""
    if part is None:
        return b"-"
    data = part if isinstance(part, bytes) else str(part).encode("utf-8", "surrogatepass")
    return b"%d:%b" % (len(data), data if len(data) <= _LARGE_BYTES else sha256(data).digest())
