"""The estimate of tokens, held against a real tokenizer where its ranks are on this machine."""

from __future__ import annotations

import json
import statistics
from typing import TYPE_CHECKING

import pytest

from codemode.catalog import tokens

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 0),
        ("word", 1),  # o200k_base: 1
        ("github.issues.create(*, owner: str, repo: str)", 14),  # o200k_base: 13
        ("Create an issue in a repository.", 8),  # o200k_base: 7
        ('{"items": [1, 22, 333]}', 13),  # o200k_base: 12
        ("12345678", 4),  # o200k_base: 3
    ],
)
def test_the_estimate_leans_to_the_high_side(text: str, expected: int) -> None:
    assert tokens.estimate(text) == pytest.approx(expected, abs=1)


def test_without_ranks_on_this_machine_there_is_no_tokenizer(tmp_path: Path) -> None:
    assert tokens.local_tokenizer(tmp_path) is None


def test_a_file_that_is_not_the_vocabulary_is_not_used(tmp_path: Path) -> None:
    file = tmp_path / "o200k_base.tiktoken"
    file.write_bytes(b"IQ== 0\n")
    assert tokens.local_tokenizer(file) is None


def test_a_tokenizer_counts_instead_of_the_estimate() -> None:
    class Letters:
        def encode_ordinary(self, text: str) -> list[int]:
            return [ord(letter) for letter in text]

    assert tokens.count("hello", Letters()) == 5


def test_signatures_of_real_documents_are_estimated_within_a_tenth(shared_data: Callable[[str], Path]) -> None:
    """Counts of o200k_base for whole files of text, taken once; the estimate must come near without any data."""
    lines = (shared_data("programs") / "programs.jsonl").read_text(encoding="utf-8").splitlines()
    signatures = [signature for line in lines for signature in json.loads(line)["signatures"]]
    ratio = tokens.estimate("\n".join(dict.fromkeys(signatures))) / 19_159
    assert 1.0 <= ratio <= 1.1
    assert statistics.mean(map(tokens.estimate, signatures)) > 40
