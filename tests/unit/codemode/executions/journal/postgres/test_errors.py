"""A database in messages: its URL without the password, and why it cannot be used."""

from __future__ import annotations

import asyncpg
import pytest

from codemode.errors import ConfigurationError
from codemode.executions.journal.postgres.errors import reason, shown


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("postgresql://ann:secret@db:5432/shop?sslmode=verify-full", "postgresql://db:5432/shop"),
        ("postgresql://ann:se@cret@db/shop", "postgresql://db/shop"),
        ("postgresql://one:1,two:2/shop?user=ann@corp&password=secret", "postgresql://one:1,two:2/shop"),
        ("postgresql:///shop?host=/run/postgresql", "postgresql:///shop"),
    ],
)
def test_a_url_is_shown_without_its_user_and_password(url: str, expected: str) -> None:
    assert shown(url) == expected


@pytest.mark.parametrize("password", ["se/cret", "se#cret", "se?cret", "se[cret", "se@c/ret", "se\uff0fcret"])
def test_a_password_that_is_not_encoded_is_rejected_and_not_shown(password: str) -> None:
    with pytest.raises(ConfigurationError, match="percent-encoded") as raised:
        shown(f"postgresql://ann:{password}@db/shop")
    assert raised.value.__cause__ is None
    assert "cret" not in str(raised.value)


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (TimeoutError(), "it did not answer in time"),
        (ConnectionResetError(), "the connection was lost"),
        (
            asyncpg.InterfaceError("cannot perform operation: another operation is in progress"),
            "the connection was lost",
        ),
        (asyncpg.InternalClientError("got result for unknown protocol state 3"), "the connection was lost"),
        (asyncpg.ConnectionDoesNotExistError("connection was closed in the middle"), "the connection was lost"),
        (ConnectionRefusedError(111, "Connect call failed"), "nothing listens at its address"),
        (FileNotFoundError(2, "No such file or directory"), "nothing listens at its address"),
        (asyncpg.CannotConnectNowError("the database system\nis starting up"), "the database system is starting up"),
        (asyncpg.ClientConfigurationError("invalid DSN"), "invalid DSN"),
        (OSError(), "OSError"),
    ],
)
def test_a_reason_is_never_empty_and_has_no_words_of_the_driver(error: Exception, expected: str) -> None:
    assert reason(error) == expected
