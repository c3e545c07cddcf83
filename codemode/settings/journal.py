"""The `journal` section."""

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
        message = "expected a URL that begins with postgresql://"
        raise ValueError(message)
    if urlsplit(url).password is not None or "password=" in url:
        message = "the URL contains a password: store the whole URL elsewhere and refer to it, as {env: NAME}"
        raise ValueError(message)
    return url


class JournalSettings(Section):
    """Where executions are recorded, how safely, and for how long. See `codemode.executions.journal.base`."""

    enabled: bool | None = Field(
        default=None,
        description="Record executions. null: record if there is a configuration file, a `state_folder` or a "
        "`journal.url`.",
        examples=[True],
    )
    url: Annotated[str, AfterValidator(_without_password)] | SecretReference | None = Field(
        default=None,
        description="URL of a PostgreSQL database, without a password, or a secret reference to the URL. null: the "
        "SQLite file `journal.sqlite3` in the state folder.",
        examples=["postgresql://host/database", {"env": "JOURNAL_URL"}],
    )
    key: SecretReference | None = Field(
        default=None,
        description="Secret of at least 12 characters for the seals of the journal. All servers of one database share "
        "it, and PostgreSQL requires it. null: the file `journal.key` in the state folder.",
        examples=[{"env": "JOURNAL_KEY"}],
    )
    durability: Durability = Field(
        default="process",
        description="`process`: records survive the end of the server process. On PostgreSQL, only requests with an "
        "`Idempotency-Key` and the starts of writes without one also survive a crash of the database process. `power`: "
        "records survive a power failure, and every write is flushed to disk.",
    )
    migrate: Literal["automatic", "manual"] = Field(
        default="automatic",
        description="`automatic`: the first server of a new version migrates the journal. `manual`: only `codemode "
        "journal migrate` does, and servers do not start before.",
        examples=["manual"],
    )
    lease_s: float = Field(
        default=15.0,
        ge=1,
        le=3600,
        description="Seconds without a renewal after which other servers take over the executions of a server.",
    )
    keep_s: float = Field(
        default=30 * _DAY_S, gt=0, description="Seconds for which ended executions are kept. The default is 30 days."
    )
    keep_count: int = Field(
        default=10_000, ge=1, description="Maximum number of ended executions of one key. The newest are kept."
    )
    keep_bytes: int = Field(
        default=10 * _GIB,
        ge=1024**2,
        description="Maximum size of all executions, in bytes. The oldest ended ones are removed first. If open ones "
        "exceed it, new executions are rejected. The default is 10 GiB.",
    )
    keep_bytes_per_key: int = Field(
        default=2 * _GIB,
        ge=1024**2,
        description="Maximum size of the executions of one server key, in bytes, like `keep_bytes`. The default is "
        "2 GiB.",
    )
    expire_s: float = Field(
        default=7 * _DAY_S,
        gt=0,
        description="Seconds after which a paused execution expires. The default is 7 days.",
    )
