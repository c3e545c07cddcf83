"""The section on the record of executions."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from codemode.settings.secrets import SecretReference
from codemode.settings.section import Section

Durability = Literal["process", "power"]

_DAY_S = 24 * 3600.0


class JournalSettings(Section):
    """Where executions are recorded, and for how long; see `codemode.executions.journal`.

    `enabled: false` records nothing. `url` names a PostgreSQL database (`postgresql://…`), else there is a SQLite file
    in the state folder; `key` is the secret for its digests, else the file `journal.key` there. `process` survives the
    death of a server, `power` also that of the machine, at the price of a flush to disk for each write.
    """

    enabled: bool = True
    url: SecretReference | None = None
    key: SecretReference | None = None
    durability: Durability = "process"
    lease_s: float = Field(default=15.0, ge=1, le=3600)
    keep_s: float = Field(default=30 * _DAY_S, gt=0)
    keep_count: int = Field(default=10_000, ge=1)
    expire_s: float = Field(default=7 * _DAY_S, gt=0)
