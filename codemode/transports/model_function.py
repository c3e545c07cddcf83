"""A function that a model must call, asked for by chat completions: its arguments are the answer."""

from __future__ import annotations

import asyncio
import json
from importlib import import_module
from typing import TYPE_CHECKING, Any

from pydantic import SecretStr

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from codemode.settings.model import ModelSettings

#: Timeout of one connection in seconds. Callers limit the whole request.
_REQUEST_S = 600.0


class ModelFailed(Exception):
    """The model gave no usable answer; the message says why."""


class ModelFunction:
    """The function `name` of a model. `title` names the model in messages.

    `is_strict`: the service makes sure that arguments fit; it knows but a part of JSON Schema.

    Raises EnvironmentIncomplete if the API key is missing.
    """

    def __init__(self, settings: ModelSettings, name: str, *, title: str = "the model", is_strict: bool = True) -> None:
        self._settings = settings
        self._name = name
        self._title = title
        self._is_strict = is_strict
        self._key = settings.api_key.resolve() if settings.api_key else SecretStr("none")

    async def ask(self, messages: Sequence[Mapping[str, str]], properties: Mapping[str, Any]) -> dict[str, Any]:
        """Return the arguments with which the model calls the function once. All `properties` are required.

        They are not validated. Raises ModelFailed.
        """
        openai = await asyncio.to_thread(import_module, "openai")  # the first import takes a second
        url = self._settings.base_url
        from codemode.transports.http.network import pinned_client

        http = pinned_client(url, timeout_s=_REQUEST_S)
        key = self._key.get_secret_value()
        try:
            async with openai.AsyncOpenAI(base_url=url, api_key=key, max_retries=0, http_client=http) as client:
                answer = await client.chat.completions.create(
                    model=self._settings.model,
                    messages=messages,
                    tools=[self._definition(properties)],
                    tool_choice={"type": "function", "function": {"name": self._name}},
                )
        except openai.APIStatusError as error:
            message = f"{self._title} answered {error.status_code}"
            raise ModelFailed(message) from None
        except openai.OpenAIError:
            message = f"{self._title} cannot be reached"
            raise ModelFailed(message) from None
        return self._arguments(answer, properties)

    def _definition(self, properties: Mapping[str, Any]) -> dict[str, Any]:
        parameters = {
            "type": "object",
            "properties": dict(properties),
            "required": list(properties),
            "additionalProperties": False,
        }
        return {
            "type": "function",
            "function": {"name": self._name, "parameters": parameters, "strict": self._is_strict},
        }

    def _arguments(self, answer: Any, properties: Mapping[str, Any]) -> dict[str, Any]:
        try:
            (call,) = answer.choices[0].message.tool_calls
            arguments = json.loads(call.function.arguments)
            return {name: arguments[name] for name in properties}
        except (AttributeError, IndexError, KeyError, TypeError, ValueError):
            message = f"{self._title} named no {' and '.join(properties)}"
            raise ModelFailed(message) from None
