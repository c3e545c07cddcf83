"""The settings of a model that is asked one question at a time."""

from __future__ import annotations

from pydantic import Field

from codemode.settings.secrets import SecretReference
from codemode.settings.section import Section
from codemode.settings.urls import HttpUrl


class ModelSettings(Section):
    """A model on any service that speaks chat completions."""

    model: str = Field(min_length=1, description="Model name, as the service knows it.", examples=["gpt-5-mini"])
    base_url: HttpUrl = Field(
        default="https://api.openai.com/v1", description="Base URL of the service. It ends in `/v1`."
    )
    api_key: SecretReference | None = Field(
        default=None, description="API key of the service. null: none is sent.", examples=[{"env": "OPENAI_API_KEY"}]
    )
