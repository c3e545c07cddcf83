"""The journal that the configuration selects."""

from __future__ import annotations

import logging
from functools import partial
from typing import TYPE_CHECKING, Any

from codemode.errors import ConfigurationError
from codemode.executions.journal.key import DigestKey
from codemode.executions.journal.sql.space import Bounds
from codemode.shared.files import FolderStore

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from codemode.executions.journal.base import StoredJournal
    from codemode.executions.journal.postgres.journal import PostgresJournal
    from codemode.settings import Secrets, Settings
    from codemode.shared.values import ValueStore

_NO_KEY = (
    "journal.url names a database, but `journal.key` is missing, and servers that share a journal need the same key."
    " Create one with `python -c 'import secrets; print(secrets.token_hex(32))'`, store it as a secret, and refer to it"
    " on all servers of the database: `journal: {key: {env: CODEMODE_JOURNAL_KEY}}`"
)

_NO_DRIVER = "journal.url names a PostgreSQL database, which needs asyncpg: pip install codemode[postgres]"

log = logging.getLogger(__name__)

#: File name of the journal in the state folder.
JOURNAL_FILE = "journal.sqlite3"

#: Least length of a configured key, in characters. A made one has 64.
LEAST_CHARACTERS = 12

#: File name of the journal's key in the state folder, unless `journal.key` is configured.
KEY_FILE = "journal.key"


def journal_of(
    settings: Settings, secrets: Secrets, *, migrates: bool = False, file: Path | None = None
) -> StoredJournal | None:
    """Return the journal of these settings, not yet open, or None if they disable it.

    With `migrates` it is migrated when it is opened, also if the settings leave that to a command. `file` is a copy to
    open in the place of the journal, which is migrated too.

    Raises ConfigurationError if a secret is missing, the key file is unusable, or the extra is not installed.
    """
    if not settings.keeps_journal:
        return None
    wanted = settings.journal
    left_behind = settings.left_behind(JOURNAL_FILE) if wanted.url is None else ""
    if left_behind:
        log.warning("%s", left_behind)
    if wanted.url is None or file is not None:
        from codemode.executions.journal.sqlite.journal import SqliteJournal

        options = _options(settings, migrates=migrates or file is not None)
        return SqliteJournal(file or settings.state() / JOURNAL_FILE, _key(settings, secrets), **options)
    if settings.name is None:
        log.warning(
            "the journal is shared, and this configuration has no name: its executions belong to %s; set"
            " `name:` to the same value on all servers of this project, and to another value for each other project",
            settings.project,
        )
    return _postgres(settings, secrets, migrates=migrates)[1]()


def journal_file(settings: Settings) -> Path:
    """Return the journal's file in the state folder. Raises ConfigurationError if there is none."""
    file = settings.state() / JOURNAL_FILE
    if not file.exists():
        message = f"there is no journal at {file}: nothing has been recorded yet, or the file was removed"
        raise ConfigurationError(message)
    return file


def url_of(settings: Settings, secrets: Secrets) -> tuple[str, str]:
    """Return the URL of the configured database, and the URL without its secret parts.

    Raises ConfigurationError if the secret is missing, or the extra is not installed.
    """
    try:
        from codemode.executions.journal.postgres.errors import shown
    except ModuleNotFoundError:
        raise ConfigurationError(_NO_DRIVER) from None
    wanted = settings.journal.url
    url = wanted if isinstance(wanted, str) else secrets.text(wanted)
    return url, shown(url)


def store_of(settings: Settings, secrets: Secrets) -> ValueStore:
    """Return the store of what the servers of a project share: `journal.url`, else the state folder.

    With `logins`, the logins in it are sealed. Its first use raises what `journal_of` raises.
    """
    store = _store_of(settings, secrets)
    if settings.logins is None:
        return store
    from codemode.shared.seal import SealedStore

    keys = (settings.logins.key, *settings.logins.old_keys)
    return SealedStore(store, lambda: [secrets.text(key) for key in keys])


def _store_of(settings: Settings, secrets: Secrets) -> ValueStore:
    if not settings.has_shared_store:
        return FolderStore.of(settings)
    try:
        from codemode.executions.journal.postgres.shared_store import SharedStore
    except ModuleNotFoundError:
        raise ConfigurationError(_NO_DRIVER) from None
    return SharedStore(partial(_postgres, settings, secrets), FolderStore.of(settings))


def _options(settings: Settings, *, migrates: bool) -> Any:
    wanted = settings.journal
    return {
        "lease_s": wanted.lease_s,
        "durability": wanted.durability,
        "project": settings.project,
        "expire_s": wanted.expire_s,
        "bounds": Bounds(wanted.keep_bytes, wanted.keep_bytes_per_key),
        "migrates": migrates or wanted.migrate == "automatic",
    }


def _postgres(
    settings: Settings, secrets: Secrets, *, migrates: bool = False
) -> tuple[str, Callable[..., PostgresJournal]]:
    """Return the URL of the database, and a function that makes a journal on it."""
    key = _key(settings, secrets)
    url, _ = url_of(settings, secrets)
    from codemode.executions.journal.postgres.journal import PostgresJournal

    return url, partial(PostgresJournal, url, key, **_options(settings, migrates=migrates))


def _key(settings: Settings, secrets: Secrets) -> DigestKey:
    """Return the configured key, or else the key file of the state folder.

    Servers of a shared journal need a configured key.
    """
    text = secrets.text(settings.journal.key)
    if settings.journal.key is not None:
        if len(text) < LEAST_CHARACTERS:
            message = (
                f"{settings.place('journal', 'key')}: the secret has {len(text)} characters, and the seals of the"
                f" journal need at least {LEAST_CHARACTERS}: make one with"
                " `python -c 'import secrets; print(secrets.token_hex(32))'`"
            )
            raise ConfigurationError(message)
        return DigestKey(text.encode())
    file = settings.state() / KEY_FILE
    if settings.journal.url is not None and not file.exists():
        raise ConfigurationError(_NO_KEY)
    return DigestKey.of_file(file)
