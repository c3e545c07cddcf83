"""Tokens of logins, one file a source, readable by this user alone; safe for several processes at once."""

from __future__ import annotations

import asyncio
import fcntl
import json
import logging
import os
import tempfile
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

log = logging.getLogger(__name__)

#: Seconds between two looks at a lock that another process holds while it gets a token.
_LOOK_AGAIN_S = 0.05


@dataclass(frozen=True, slots=True, repr=False)
class Tokens:
    """What a login gave. `expires_at` is in seconds since 1970; `token_url` and `client_id` say to whom."""

    access_token: str
    refresh_token: str
    expires_at: float
    token_url: str
    client_id: str
    scope: str = ""

    def __repr__(self) -> str:
        return f"Tokens({self.token_url}, {self.client_id})"

    @property
    def secrets(self) -> tuple[str, ...]:
        """The texts that must never be seen."""
        return tuple(secret for secret in (self.access_token, self.refresh_token) if secret)


class TokenStore:
    """The tokens of one source in a folder of the operator's.

    What cannot be written, on a full disk, is what is read here all the same, until it can be; meanwhile the lock is
    held, for others would spend a refresh token that was used.
    """

    def __init__(self, folder: Path, source: str) -> None:
        self._file = folder / f"{source}.json"
        self._source = source
        self._unwritten: Tokens | None = None
        self._written: Tokens | None = None
        self._is_told = False
        self._turn = asyncio.Lock()
        self._lock = -1

    @property
    def is_behind(self) -> bool:
        """Whether there are tokens that are not written yet."""
        return self._unwritten is not None

    def read(self) -> Tokens | None:
        """What is kept; None where there is nothing that can be read."""
        try:
            return self._unwritten or self._content()
        except OSError:
            return None

    def keep(self, renewed: Tokens, before: Tokens) -> None:
        """Keep tokens in place of those that are spent, later if not now. To be called while it is `locked`."""
        if self._unwritten is None:
            self._written = before
        self._unwritten = renewed
        self._write_late()

    async def keep_late(self) -> None:
        """Write what could not be written, if that is possible now."""
        if self.is_behind:
            async with self.locked():
                await asyncio.to_thread(self._write_late)

    async def aclose(self) -> None:
        """Write what could not be written, for the last time, and let others at it."""
        await self.keep_late()
        if self.is_behind:
            self._unwritten = None
            self._unlock()

    def write(self, tokens: Tokens) -> None:
        """Keep tokens in place of what is there, whole or not at all. Raises OSError."""
        self._make_folder()
        descriptor, name = tempfile.mkstemp(dir=self._file.parent, prefix=f"{self._file.stem}.")  # mode 0600
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                json.dump(asdict(tokens), file)
                file.flush()
                os.fsync(file.fileno())
            Path(name).replace(self._file)
            self._sync_folder()
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise

    def remove(self) -> bool:
        """Forget the tokens; whether there were any."""
        had = self._file.exists()
        self._file.unlink(missing_ok=True)
        return had

    @asynccontextmanager
    async def locked(self) -> AsyncIterator[None]:
        """No other process renews these tokens meanwhile: a refresh token may be good for one use only."""
        async with self._turn:
            if self._lock < 0:
                self._lock = await self._locked()
            try:
                yield
            finally:
                if not self.is_behind:
                    self._unlock()

    async def _locked(self) -> int:
        self._make_folder()
        descriptor = os.open(self._file.with_suffix(".lock"), os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        try:
            while True:
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    await asyncio.sleep(_LOOK_AGAIN_S)
                else:
                    return descriptor
        except BaseException:
            os.close(descriptor)
            raise

    def _unlock(self) -> None:
        os.close(self._lock)
        self._lock = -1

    def _content(self) -> Tokens | None:
        """What the file has. Raises OSError."""
        try:
            data = json.loads(self._file.read_text(encoding="utf-8"))
            return Tokens(**{field.name: data[field.name] for field in fields(Tokens)})
        except (FileNotFoundError, ValueError, KeyError, TypeError):
            return None

    def _write_late(self) -> None:
        """Write what is not written, unless somebody has logged in or out meanwhile. A failure is told once."""
        if self._unwritten is None:
            return
        try:
            if self._content() == self._written:
                self.write(self._unwritten)
        except OSError as error:
            if not self._is_told:
                why = error.strerror or error
                said = "the renewed login at %s cannot be written (%s): it is used, and lost if this process ends"
                log.error(said, self._source, why)
            self._is_told = True
            return
        self._unwritten = self._written = None
        self._is_told = False

    def _sync_folder(self) -> None:
        """A power cut must not bring back the file before, whose refresh token is spent."""
        folder = os.open(self._file.parent, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def _make_folder(self) -> None:
        self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
