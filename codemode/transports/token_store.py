"""Tokens of logins, one file a source, readable by this user alone; safe for several processes at once."""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import tempfile
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

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
    """The tokens of one source in a folder of the operator's."""

    def __init__(self, folder: Path, source: str) -> None:
        self._file = folder / f"{source}.json"

    def read(self) -> Tokens | None:
        """What is kept; None where there is nothing that can be read."""
        try:
            data = json.loads(self._file.read_text(encoding="utf-8"))
            return Tokens(**{field.name: data[field.name] for field in fields(Tokens)})
        except (OSError, ValueError, KeyError, TypeError):
            return None

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
        self._make_folder()
        descriptor = os.open(self._file.with_suffix(".lock"), os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        try:
            while True:
                try:
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    await asyncio.sleep(_LOOK_AGAIN_S)
            yield
        finally:
            os.close(descriptor)

    def _make_folder(self) -> None:
        self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
