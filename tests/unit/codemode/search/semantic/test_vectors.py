"""Vectors on disk and in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from codemode.search.semantic.vectors import VectorCache

if TYPE_CHECKING:
    from pathlib import Path

TEXTS = [f"text {number}" for number in range(200)]


@pytest.fixture
def vectors() -> np.ndarray:
    return np.random.default_rng(5).normal(size=(200, 48)).astype(np.float32)


def test_cosines_are_in_the_order_of_the_texts(tmp_path: Path, vectors: np.ndarray) -> None:
    cache = VectorCache(tmp_path, "model")
    cache.add(TEXTS[:150], vectors[:150])
    cache.add(TEXTS[150:], vectors[150:])
    again = VectorCache(tmp_path, "model")
    assert again.size == 48
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    cosines = again.table(TEXTS[::-1]).cosines(3 * vectors[7])
    assert np.abs(cosines - (unit @ unit[7])[::-1]).max() < 0.005


def test_each_model_has_its_own_file(tmp_path: Path, vectors: np.ndarray) -> None:
    VectorCache(tmp_path, "one").add(TEXTS[:1], vectors[:1])
    assert VectorCache(tmp_path, "another").missing(TEXTS[:1]) == TEXTS[:1]
    assert VectorCache(tmp_path, "one").missing([*TEXTS[:2], *TEXTS[:2]]) == TEXTS[1:2]


@pytest.mark.parametrize("damage", [b"half a rec", b""])
def test_a_truncated_file_keeps_its_complete_records(tmp_path: Path, vectors: np.ndarray, damage: bytes) -> None:
    cache = VectorCache(tmp_path, "model")
    cache.add(TEXTS[:3], vectors[:3])
    (path,) = tmp_path.iterdir()
    path.write_bytes(path.read_bytes()[: None if damage else -10] + damage)
    cache = VectorCache(tmp_path, "model")
    kept = 3 if damage else 2
    assert cache.missing(TEXTS[:4]) == TEXTS[kept:4]
    cache.add(TEXTS[kept:5], vectors[kept:5])
    cache.read()
    assert cache.missing(TEXTS[:5]) == []
    assert cache.table(TEXTS[:5]).cosines(vectors[4]).argmax() == 4


@pytest.mark.parametrize("content", [b"", b"no vectors", b"codemode vectors" + b"\xff" * 200])
def test_an_invalid_file_is_overwritten(tmp_path: Path, vectors: np.ndarray, content: bytes) -> None:
    VectorCache(tmp_path, "model").add(TEXTS[:1], vectors[:1])
    (path,) = tmp_path.iterdir()
    path.write_bytes(content)
    cache = VectorCache(tmp_path, "model")
    assert cache.missing(TEXTS[:1]) == TEXTS[:1]
    cache.add(TEXTS[:2], vectors[:2])
    cache.read()
    assert cache.missing(TEXTS[:2]) == []


def test_vectors_of_another_size_replace_the_file(tmp_path: Path, vectors: np.ndarray) -> None:
    cache = VectorCache(tmp_path, "model")
    cache.add(TEXTS[:2], vectors[:2])
    cache.add(TEXTS[2:3], vectors[2:3, :16])
    cache.read()
    assert cache.size == 16
    assert cache.missing(TEXTS[:3]) == TEXTS[:2]
