"""The `search.embeddings` section."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from codemode.settings.secrets import SecretReference
from codemode.settings.section import Section
from codemode.settings.urls import HttpUrl

#: Default wait for the vector of a new query. A local model takes 10 ms, a service in the same network 50 ms.
QUERY_WAIT_MS = 150

_BATCH = "Number of texts that are embedded in one batch."
_QUERY_WAIT = (
    "Milliseconds that a search waits for the vector of a new query. After that it ranks without it. 0: never wait."
)


class ServiceEmbeddings(Section):
    """A service that speaks `/v1/embeddings`, such as OpenAI, Ollama or vLLM."""

    kind: Literal["openai"] = Field(description="An embedding service.")
    model: str = Field(
        min_length=1, description="Model name, as the service knows it.", examples=["text-embedding-3-small"]
    )
    base_url: HttpUrl = Field(
        default="https://api.openai.com/v1",
        description="Base URL of the service. It ends in `/v1`.",
        examples=["http://127.0.0.1:11434/v1"],
    )
    api_key: SecretReference | None = Field(
        default=None, description="API key of the service. null: none is sent.", examples=[{"env": "OPENAI_API_KEY"}]
    )
    dimensions: int | None = Field(
        default=None,
        ge=1,
        le=65_536,
        description="Vector dimensions to request. null: the model's own.",
        examples=[512],
    )
    batch: int = Field(default=64, ge=1, le=2048, description=_BATCH)
    timeout_s: float = Field(default=30.0, gt=0, le=600, description="Time limit of one request, in seconds.")
    query_wait_ms: int = Field(default=QUERY_WAIT_MS, ge=0, le=10_000, description=_QUERY_WAIT)


class LocalEmbeddings(Section):
    """The model of the extra `embeddings`, in the codemode process."""

    kind: Literal["local"] = Field(description="The model of the extra `embeddings`.")
    batch: int = Field(default=64, ge=1, le=2048, description=_BATCH)
    query_wait_ms: int = Field(default=QUERY_WAIT_MS, ge=0, le=10_000, description=_QUERY_WAIT)


EmbeddingSettings = Annotated[ServiceEmbeddings | LocalEmbeddings, Field(discriminator="kind")]
