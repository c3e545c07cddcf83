"""Sessions of the console that several server processes share, as files.

A file holds the session's key, encrypted with a key that follows from the id in the browser's cookie. Who reads the
folder learns neither, and each id encrypts one text only.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from codemode.serving.console.session import LIFETIME_S, MOST_PER_KEY, Session, Sessions

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


class SharedSessions(Sessions):
    """Sessions in `folder`. `secret` is 32 bytes, the same in all processes.

    Messages for the next page of a browser stay in the process that wrote them.
    """

    def __init__(self, folder: Path, secret: bytes, *, clock: Callable[[], float] = time.time) -> None:
        super().__init__(clock=clock)
        self._folder = folder
        self._secret = secret
        self._known: dict[str, Session] = {}
        self.of_anybody = Session(csrf_token=self._token(""))

    def open(self, key: str) -> str:
        """Open a session for a valid key and return its id. Raises OSError."""
        id_ = secrets.token_urlsafe(32)
        owner = hashlib.blake2b(key.encode(), key=self._secret, digest_size=16).hexdigest()
        self._make_room(owner)
        masked = _masked(key.encode(), id_).hex()
        kept = {"key": masked, "owner": owner, "expires": self._clock() + LIFETIME_S}
        draft = self._folder / f".{_name(id_)}"
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            json.dump(kept, file)
        draft.rename(self._folder / _name(id_))
        return id_

    def find(self, id_: str) -> Session | None:
        """Return the session with this id, or None if it has ended."""
        name = _name(id_)
        try:
            kept = json.loads((self._folder / name).read_text(encoding="ascii"))
        except FileNotFoundError:
            self._known.pop(name, None)
            return None
        if self._clock() >= kept["expires"]:
            self.close(id_)
            return None
        if name not in self._known:
            key = _masked(bytes.fromhex(kept["key"]), id_).decode()
            self._known[name] = Session(key, kept["expires"], csrf_token=self._token(id_))
        return self._known[name]

    def close(self, id_: str) -> None:
        """End the session with this id, if there is one."""
        self._forget(_name(id_))

    def _make_room(self, owner: str) -> None:
        """Remove sessions that have ended, and the oldest of a key that has as many as it may."""
        same = []
        for file in self._folder.glob("[!.]*"):
            with suppress(FileNotFoundError):  # another process has just removed it
                kept = json.loads(file.read_text(encoding="ascii"))
                if self._clock() >= kept["expires"]:
                    self._forget(file.name)
                elif kept["owner"] == owner:
                    same.append((kept["expires"], file.name))
        for _, name in sorted(same)[: 1 - MOST_PER_KEY]:
            self._forget(name)

    def _forget(self, name: str) -> None:
        self._known.pop(name, None)
        (self._folder / name).unlink(missing_ok=True)

    def _token(self, id_: str) -> str:
        return hashlib.blake2b(f"form token of {id_}".encode(), key=self._secret, digest_size=32).hexdigest()


def _name(id_: str) -> str:
    return hashlib.sha256(id_.encode()).hexdigest()


def _masked(text: bytes, id_: str) -> bytes:
    """Encrypt or decrypt a text with SHAKE256 of the id (FIPS 202) as a stream cipher."""
    stream = hashlib.shake_256(f"key of session {id_}".encode()).digest(len(text))
    return bytes(a ^ b for a, b in zip(text, stream, strict=True))
