"""Sealed continuations: what opens them, and what does not."""

from __future__ import annotations

import base64
import os
from typing import Any

import pytest

from codemode.errors import ConfigurationError
from codemode.features.continuations.errors import ContinuationInvalid
from codemode.features.continuations.seal import Sealer, SealingKey

KEY, OTHER = SealingKey("a" * 32), SealingKey("b" * 32)


def sealer(*keys: SealingKey, project: str = "gym", **options: Any) -> Sealer:
    return Sealer(keys or (KEY,), project, **{"expires_s": 60, "limit_bytes": 10_000} | options)


def test_what_was_sealed_is_opened() -> None:
    text = sealer().seal("ex_1", b"a journal", KEY)
    opened = sealer().open(text)
    assert (opened.execution, opened.image, opened.key) == ("ex_1", b"a journal", KEY)
    assert b"a journal" not in base64.urlsafe_b64decode(text[4:] + "==")


def test_two_seals_of_one_journal_differ() -> None:
    first, second = (sealer().seal("ex_1", b"a journal", KEY) for _ in range(2))
    assert sealer().open(first).id != sealer().open(second).id


def test_every_changed_byte_is_noticed() -> None:
    text = sealer().seal("ex_1", b"a journal", KEY)
    data = base64.urlsafe_b64decode(text[4:] + "=" * (-len(text[4:]) % 4))
    for place in range(len(data)):
        changed = data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]
        with pytest.raises(ContinuationInvalid, match="not authentic"):
            sealer().open("cc1_" + base64.urlsafe_b64encode(changed).decode())


@pytest.mark.parametrize("text", ["", "cc1_", "cc1_AAAA", "cc1_é", "x" * 5000, "cc1_" + "A" * 200])
def test_other_texts_are_rejected(text: str) -> None:
    with pytest.raises(ContinuationInvalid, match="not authentic"):
        sealer().open(text)


@pytest.mark.parametrize("reader", [sealer(OTHER), sealer(project="pool")])
def test_another_key_or_project_opens_nothing(reader: Sealer) -> None:
    with pytest.raises(ContinuationInvalid, match="not authentic"):
        reader.open(sealer().seal("ex_1", b"a journal", KEY))


def test_an_old_key_still_opens_after_a_rotation() -> None:
    text = sealer(OTHER).seal("ex_1", b"a journal", OTHER)
    assert sealer(KEY, OTHER).open(text).key is OTHER


def test_an_expired_one_is_rejected() -> None:
    with pytest.raises(ContinuationInvalid, match="the continuation has expired; run the program again"):
        sealer().open(sealer().seal("ex_1", b"a journal", KEY, expires=1))


def test_one_that_is_too_large_is_not_made_and_not_read() -> None:
    with pytest.raises(ContinuationInvalid, match=r"the continuation of ex_1 has 13,\d{3} bytes, and .* allows 10,000"):
        sealer().seal("ex_1", os.urandom(10_000), KEY)
    with pytest.raises(ContinuationInvalid, match="the continuation has 10,001 bytes; at most 10,000 are accepted"):
        sealer().open("x" * 10_001)


def test_a_short_key_is_rejected() -> None:
    with pytest.raises(ConfigurationError, match="a key has 8 characters; use at least 32"):
        SealingKey("too-much")
