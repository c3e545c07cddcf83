"""The `agent` section."""

from __future__ import annotations

import json
import os
from typing import Literal

from pydantic import Field

from codemode.errors import ConfigurationError
from codemode.settings.modes import AgentMode as AgentMode
from codemode.settings.modes import AgentModeOrOff
from codemode.settings.secrets import SecretReference
from codemode.settings.section import Section
from codemode.settings.urls import HttpUrl

#: Variables of the official OpenAI client, and the variables for the tool choice and the model.
MODEL_KEY_VARIABLE = "OPENAI_API_KEY"
MODEL_URL_VARIABLE = "OPENAI_BASE_URL"
TOOL_CHOICE_VARIABLE = "OPENAI_TOOL_CHOICE"
MODEL_VARIABLE = "CODEMODE_MODEL"

#: Default number of model requests for one message. A menu that must be widened more than 5 times does not fit.
MENU_ITERATIONS = 5
ITERATIONS = 20

_MILLION = 1_000_000


class PriceSettings(Section):
    """Prices of a million tokens, in any currency."""

    input: float = Field(ge=0, description="Price of a million input tokens.", examples=[1.25])
    output: float = Field(ge=0, description="Price of a million output tokens.", examples=[10])
    cached_input: float | None = Field(
        default=None,
        ge=0,
        description="Price of a million cached input tokens. null: the price of `input`.",
        examples=[0.125],
    )

    def of(self, input_: int, output: int, cached: int = 0) -> float:
        """Return the cost of tokens. `cached` is the part of `input_` that the provider had cached."""
        at_cache = self.input if self.cached_input is None else self.cached_input
        return ((input_ - cached) * self.input + cached * at_cache + output * self.output) / _MILLION


class AgentSettings(Section):
    """The model of `codemode chat` and `Agent`, and its limits for one message."""

    model: str = Field(
        default="",
        description="Model name, as the service knows it. Empty: the variable `CODEMODE_MODEL`.",
        examples=["gpt-5"],
    )
    base_url: HttpUrl | None = Field(
        default=None,
        description="Base URL of the model service. null: the variable `OPENAI_BASE_URL`, else OpenAI.",
        examples=["https://api.openai.com/v1"],
    )
    api_key: SecretReference | None = Field(
        default=None,
        description="API key of the model service. null: the variable `OPENAI_API_KEY`.",
        examples=[{"env": "OPENAI_API_KEY"}],
    )
    api: Literal["chat", "responses"] = Field(
        default="chat", description="API of the model service: chat completions or responses."
    )
    mode: AgentModeOrOff = Field(
        default="code",
        description="Tools that the model gets, unless a rule of `modes` matches. `code`: search and execute. "
        "`hybrid`: these and a menu. `menu`: a menu for each message. `native`: every tool. `deferred`: a search that "
        "adds native tools. `off`: none. `auto`: `native` if its definitions are shorter, else `code`, and `menu` once "
        "the model has shown that it writes no usable programs.",
    )
    menu_after: int = Field(
        default=3,
        ge=1,
        le=20,
        description="With `mode: auto`: number of malformed calls and programs after which the agent changes to menus.",
        examples=[3],
    )
    figures: Literal["check", "off"] = Field(
        default="check",
        description="`check`: ask once for the source of numbers in an answer that the conversation and the results do "
        "not contain. `off`: accept them.",
    )
    use_function_calling: bool = Field(
        default=True,
        description="Use the model's function calling. false: the model gets tools in its prompt and writes fenced "
        "blocks.",
    )
    stream: bool = Field(default=True, description="Request streamed answers.")
    tool_choice: str | None = Field(
        default=None,
        min_length=1,
        description="`auto`, `required`, `none` or a tool name, until the first call. null: the variable "
        "`OPENAI_TOOL_CHOICE`.",
        examples=["auto"],
    )
    max_parallel_tool_calls: int = Field(
        default=8, ge=1, le=128, description="Calls of one answer that run at the same time. Further calls run later."
    )
    iterations: int | None = Field(
        default=None,
        ge=1,
        le=1_000,
        description="Maximum number of model requests for one message. null: 20, or 5 with `mode: menu`.",
        examples=[20],
    )
    tokens: int | None = Field(
        default=None,
        ge=1,
        description="Maximum number of input and output tokens for one message. null: no limit.",
        examples=[200_000],
    )
    cost: float | None = Field(
        default=None, gt=0, description="Maximum cost of one message at `price`. null: no limit.", examples=[0.5]
    )
    price: PriceSettings | None = Field(
        default=None,
        description="Token prices, with which costs are computed. null: costs are unknown.",
        examples=[{"input": 1.25, "output": 10, "cached_input": 0.125}],
    )
    answer_tokens: int | None = Field(
        default=None,
        ge=1,
        description="Maximum length of one model answer, in tokens. null: the service's own limit.",
        examples=[4000],
    )
    repairs: int = Field(
        default=3, ge=0, le=10, description="Malformed answers in a row that the model may correct before it ends."
    )
    repeats: int = Field(
        default=3, ge=1, le=100, description="Number of times that the same call may get the same answer."
    )
    repeat_writes: bool = Field(
        default=False,
        description="Whether a call or program that changed something is done again when the model repeats it exactly.",
    )
    temperature: float | None = Field(
        default=None, ge=0, le=2, description="Sampling temperature. null: the service's default.", examples=[0.2]
    )
    seed: int | None = Field(
        default=None,
        description="Sampling seed, for reproducible answers with `api: chat`. null: none is sent.",
        examples=[1],
    )
    timeout_s: float = Field(default=120.0, gt=0, le=3600, description="Time limit of one model request, in seconds.")
    instructions: str = Field(
        default="",
        max_length=50_000,
        description="Text that is added to the system prompt.",
        examples=["You work for the front desk."],
    )

    images: bool = Field(
        default=False,
        description="Show the model the images in the results of its programs, within `content.inline_bytes`. For "
        "models that can see.",
    )

    @property
    def most_iterations(self) -> int:
        """Maximum number of model requests for one message."""
        return self.iterations or (MENU_ITERATIONS if self.mode == "menu" else ITERATIONS)

    def completed(self) -> AgentSettings:
        """Return a copy completed from the environment. Raises ConfigurationError if no model is configured."""
        found: dict[str, object] = {
            "model": self.model or os.environ.get(MODEL_VARIABLE, ""),
            "base_url": self.base_url or os.environ.get(MODEL_URL_VARIABLE) or None,
            "tool_choice": self.tool_choice or _named_choice(os.environ.get(TOOL_CHOICE_VARIABLE, "")) or None,
        }
        if self.api_key is None and os.environ.get(MODEL_KEY_VARIABLE):
            found["api_key"] = SecretReference(env=MODEL_KEY_VARIABLE)
        if not found["model"]:
            message = f"no model is configured: set agent.model in the configuration, --model, or {MODEL_VARIABLE}"
            raise ConfigurationError(message)
        return self.model_copy(update=found)


def _named_choice(text: str) -> str:
    """Return the tool choice in a text: a word, or the JSON of a chat completions request."""
    if not text.lstrip().startswith("{"):
        return text.strip()
    try:
        choice = json.loads(text)
        return str(choice.get("function", choice)["name"])
    except (ValueError, KeyError, AttributeError, TypeError):
        message = (
            f"{TOOL_CHOICE_VARIABLE} is invalid: expected auto, required, none, a tool name, or JSON that names a"
            " function"
        )
        raise ConfigurationError(message) from None
