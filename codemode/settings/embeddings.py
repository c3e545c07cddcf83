"""The section on embeddings, with which search finds what shares no word with a query."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, field_validator

from codemode.settings.secrets import SecretReference
from codemode.settings.section import HomePath, Section
from codemode.settings.sources import is_url

#: A search lets the vector of a new query take this long: a local model needs 10 ms, a service near by 50.
QUERY_WAIT_MS = 150


class ServiceEmbeddings(Section):
    """A service that speaks `/v1/embeddings`: OpenAI, Ollama, vLLM. `base_url` ends in `/v1`."""

    kind: Literal["openai"]
    model: str = Field(min_length=1)
    base_url: str = "https://api.openai.com/v1"
    api_key: SecretReference | None = None
    dimensions: int | None = Field(default=None, ge=1, le=65_536)
    batch: int = Field(default=64, ge=1, le=2048)
    timeout_s: float = Field(default=30.0, gt=0, le=600)
    query_wait_ms: int = Field(default=QUERY_WAIT_MS, ge=0, le=10_000)

    @field_validator("base_url")
    @classmethod
    def _http(cls, base_url: str) -> str:
        if not is_url(base_url):
            message = "give an address that begins with http:// or https://"
            raise ValueError(message)
        return base_url


class LocalEmbeddings(Section):
    """A BERT model in this process: that of the extra `embeddings`, or a `folder` as sentence-transformers saves it."""

    kind: Literal["local"]
    folder: HomePath | None = None
    batch: int = Field(default=64, ge=1, le=2048)
    query_wait_ms: int = Field(default=QUERY_WAIT_MS, ge=0, le=10_000)


EmbeddingSettings = Annotated[ServiceEmbeddings | LocalEmbeddings, Field(discriminator="kind")]
