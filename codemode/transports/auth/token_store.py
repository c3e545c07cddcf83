"""Tokens of logins: one file per source, readable only by this user, safe for concurrent processes."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import tempfile
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

from codemode.settings.file_lock import try_lock

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

log = logging.getLogger(__name__)

#: Poll interval for a lock that another process holds during a renewal, in seconds.
_LOOK_AGAIN_S = 0.05


@dataclass(frozen=True, slots=True, repr=False)
class Tokens:
    """The tokens of a login. `expires_at` is in seconds since 1970; `token_url` and `client_id` identify the grant."""

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
        """The texts to redact."""
        return tuple(secret for secret in (self.access_token, self.refresh_token) if secret)


class TokenStore:
    """The tokens of one source in the operator's folder.

    If they cannot be written (full disk), `read` still returns the new tokens, and the lock is held until they are
    written: another process would use the spent refresh token.
    """

    def __init__(self, folder: Path, source: str) -> None:
        self._file = folder / f"{source}.json"
        self._source = source
        self._unwritten: Tokens | None = None
        self._written: Tokens | None = None
        self._is_reported = False
        self._turn = asyncio.Lock()
        self._lock = -1

    @property
    def is_behind(self) -> bool:
        """Whether there are unwritten tokens."""
        return self._unwritten is not None

    def read(self) -> Tokens | None:
        """Return the stored tokens, None if there are none or they are unreadable."""
        try:
            return self._unwritten or self._content()
        except OSError:
            return None

    def keep(self, renewed: Tokens, before: Tokens) -> None:
        """Replace spent tokens, later if writing fails now. Call it inside `locked`."""
        if self._unwritten is None:
            self._written = before
        self._unwritten = renewed
        self._write_late()

    async def keep_late(self) -> None:
        """Retry writing unwritten tokens."""
        if self.is_behind:
            async with self.locked():
                await asyncio.to_thread(self._write_late)

    async def aclose(self) -> None:
        """Retry writing unwritten tokens a last time, and release the lock."""
        await self.keep_late()
        if self.is_behind:
            self._unwritten = None
            self._unlock()

    def write(self, tokens: Tokens) -> None:
        """Replace the stored tokens atomically. Raises OSError."""
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
        """Delete the tokens. Return whether there were any."""
        had = self._file.exists()
        self._file.unlink(missing_ok=True)
        return had

    @asynccontextmanager
    async def locked(self) -> AsyncIterator[None]:
        """Keep other processes from renewing these tokens: a refresh token may be valid for one use only."""
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
        descriptor = os.open(self._file.with_suffix(".lock"), os.O_CREAT | os.O_RDWR, 0o600)
        try:
            while True:
                try:
                    try_lock(descriptor)
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
        """Return the tokens in the file. Raises OSError."""
        try:
            data = json.loads(self._file.read_text(encoding="utf-8"))
            return Tokens(**{field.name: data[field.name] for field in fields(Tokens)})
        except (FileNotFoundError, ValueError, KeyError, TypeError):
            return None

    def _write_late(self) -> None:
        """Write unwritten tokens, unless someone has logged in or out meanwhile. Log a failure once."""
        if self._unwritten is None:
            return
        try:
            if self._content() == self._written:
                self.write(self._unwritten)
        except OSError as error:
            if not self._is_reported:
                why = error.strerror or error
                message = "the renewed login at %s cannot be stored (%s): it is lost when this process ends"
                log.error(message, self._source, why)
            self._is_reported = True
            return
        self._unwritten = self._written = None
        self._is_reported = False

    def _sync_folder(self) -> None:
        """Sync the folder: a power cut must not restore the previous file, whose refresh token is spent."""
        folder = os.open(self._file.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def _make_folder(self) -> None:
        self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
