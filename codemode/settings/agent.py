"""The section on the agent loop: which model, how it is brought to the tools, and how far it may go."""

from __future__ import annotations

import json
import os
from typing import Literal

from pydantic import Field, field_validator

from codemode.errors import ConfigurationError
from codemode.settings.secrets import SecretReference
from codemode.settings.section import Section
from codemode.settings.sources import is_url

AgentMode = Literal["code", "menu", "hybrid", "native"]

#: Where the official client looks for its key and its address, and where the choice of tools may stand.
MODEL_KEY_VARIABLE = "OPENAI_API_KEY"
MODEL_URL_VARIABLE = "OPENAI_BASE_URL"
TOOL_CHOICE_VARIABLE = "OPENAI_TOOL_CHOICE"
MODEL_VARIABLE = "CODEMODE_MODEL"

#: Requests to the model for one message. A menu that has to be widened more often than that does not fit.
MENU_ITERATIONS = 5
ITERATIONS = 20


class PriceSettings(Section):
    """What a million tokens cost, in any currency; tokens that the service had cached cost `cached_input`, if given."""

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    cached_input: float | None = Field(default=None, ge=0)


class AgentSettings(Section):
    """A model on any service that speaks chat completions or responses, and the bounds of one message.

    `mode`: `code` gives search and execute; `hybrid` these and the pins; `menu` a menu for each message; `native` every
    tool. A model without tool calling (`use_function_calling: false`) writes fenced blocks. `tool_choice` is auto,
    required, none, or the name of one tool. `iterations` are requests to the model, `tokens` are counted over all of
    them, input and output, and so is `cost`, at `price`. `repairs` are answers in a row that may be malformed,
    `repeats` how often the same call may get the same answer. `answer_tokens` bounds one answer of the model.
    """

    model: str = ""
    base_url: str | None = None
    api_key: SecretReference | None = None
    api: Literal["chat", "responses"] = "chat"
    mode: AgentMode = "code"
    use_function_calling: bool = True
    stream: bool = True
    tool_choice: str | None = Field(default=None, min_length=1)
    max_parallel_tool_calls: int = Field(default=8, ge=1, le=128)
    iterations: int | None = Field(default=None, ge=1, le=1_000)
    tokens: int | None = Field(default=None, ge=1)
    cost: float | None = Field(default=None, gt=0)
    price: PriceSettings | None = None
    answer_tokens: int | None = Field(default=None, ge=1)
    repairs: int = Field(default=1, ge=0, le=10)
    repeats: int = Field(default=3, ge=1, le=100)
    temperature: float | None = Field(default=None, ge=0, le=2)
    timeout_s: float = Field(default=120.0, gt=0, le=3600)
    instructions: str = Field(default="", max_length=50_000)

    @field_validator("base_url")
    @classmethod
    def _http(cls, base_url: str | None) -> str | None:
        if base_url is not None and not is_url(base_url):
            message = "give an address that begins with http:// or https://"
            raise ValueError(message)
        return base_url

    @property
    def most_iterations(self) -> int:
        """Requests to the model for one message."""
        return self.iterations or (MENU_ITERATIONS if self.mode == "menu" else ITERATIONS)

    def completed(self) -> AgentSettings:
        """With what is left open taken from the environment. Raises ConfigurationError where no model is named."""
        found: dict[str, object] = {
            "model": self.model or os.environ.get(MODEL_VARIABLE, ""),
            "base_url": self.base_url or os.environ.get(MODEL_URL_VARIABLE) or None,
            "tool_choice": self.tool_choice or _named_choice(os.environ.get(TOOL_CHOICE_VARIABLE, "")) or None,
        }
        if self.api_key is None and os.environ.get(MODEL_KEY_VARIABLE):
            found["api_key"] = SecretReference(env=MODEL_KEY_VARIABLE)
        if not found["model"]:
            message = f"no model is named: give agent.model in the configuration, --model, or {MODEL_VARIABLE}"
            raise ConfigurationError(message)
        return self.model_copy(update=found)


def _named_choice(text: str) -> str:
    """A choice of tools as a word, or as the JSON in which a request has it."""
    if not text.lstrip().startswith("{"):
        return text.strip()
    try:
        choice = json.loads(text)
        return str(choice.get("function", choice)["name"])
    except (ValueError, KeyError, AttributeError, TypeError):
        message = (
            f"{TOOL_CHOICE_VARIABLE} is neither auto, required, none, a tool's name, nor JSON that names a function"
        )
        raise ConfigurationError(message) from None
