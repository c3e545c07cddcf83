"""The section on the record of executions."""

from __future__ import annotations

from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field

from codemode.settings.secrets import SecretReference
from codemode.settings.section import Section

Durability = Literal["process", "power"]

_DAY_S = 24 * 3600.0
_GIB = 1024**3


def _without_password(url: str) -> str:
    if urlsplit(url).scheme not in ("postgresql", "postgres"):
        message = "it begins with postgresql://"
        raise ValueError(message)
    if urlsplit(url).password is not None or "password=" in url:
        message = "it holds a password: keep the whole URL elsewhere and name the place, as in {env: NAME}"
        raise ValueError(message)
    return url


class JournalSettings(Section):
    """Where executions are recorded, and for how long; see `codemode.executions.journal.base`.

    `enabled` by itself means: where there is a configuration file or a named state folder. `url` is that of a
    PostgreSQL database, else there is a SQLite file in the state folder; `key` is the secret for its digests, else the
    file `journal.key` there. `process` survives the death of a server of codemode. On PostgreSQL the start of a write
    without an idempotency key also survives the death of the database's process; later entries of the last moments may
    not, and what they were about is `unknown` then. `power` survives that of the machine, and flushes each write to the
    disk. A server that does not renew its lease for `lease_s` has lost its executions
    to whoever claims them. Ended executions are kept for `keep_s`, and at most `keep_count` of them; a paused one
    expires after `expire_s`. Executions take `keep_bytes` together, and `keep_bytes_per_key` of one key: the oldest
    that have ended are removed first, and where open ones take more than that, new ones are refused.
    """

    enabled: bool | None = None
    url: Annotated[str, AfterValidator(_without_password)] | SecretReference | None = None
    key: SecretReference | None = None
    durability: Durability = "process"
    lease_s: float = Field(default=15.0, ge=1, le=3600)
    keep_s: float = Field(default=30 * _DAY_S, gt=0)
    keep_count: int = Field(default=10_000, ge=1)
    keep_bytes: int = Field(default=10 * _GIB, ge=1024**2)
    keep_bytes_per_key: int = Field(default=2 * _GIB, ge=1024**2)
    expire_s: float = Field(default=7 * _DAY_S, gt=0)
