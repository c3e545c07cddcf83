"""Ask a model which categories a message is about. The request allows only existing names."""

from __future__ import annotations

import asyncio
import json
from importlib import import_module
from typing import TYPE_CHECKING, Any

from pydantic import SecretStr

if TYPE_CHECKING:
    from collections.abc import Mapping

    from codemode.settings.menu import RouterModelSettings

_NAME = "choose_categories"

#: Timeout of one connection in seconds; the settings limit the whole request.
MODEL_S = 60.0

_TASK = (
    "Choose the categories of tools that are needed to answer the user's last message, and none that are not. "
    "The categories:\n"
)


class ModelFailure(Exception):
    """The model made no usable choice; the message says why."""


class AskedModel:
    """Ask by chat completions, with a required tool whose values are an enumeration."""

    def __init__(self, settings: RouterModelSettings) -> None:
        self._settings = settings
        self._key = settings.api_key.resolve() if settings.api_key else SecretStr("none")

    async def choose(self, text: str, categories: Mapping[str, str], timeout_s: float) -> list[str]:
        """Return the categories that the text is about. Raises ModelFailure, also after a timeout."""
        openai = await asyncio.to_thread(import_module, "openai")  # the first import takes a second
        try:
            async with asyncio.timeout(timeout_s):
                return await self._asked(openai, text, categories)
        except TimeoutError:
            message = f"the router's model gave no answer within {timeout_s:g} s"
            raise ModelFailure(message) from None

    async def _asked(self, openai: Any, text: str, categories: Mapping[str, str]) -> list[str]:
        from codemode.transports.http.network import pinned_client

        key = self._key.get_secret_value()
        listed = "\n".join(f"- {name}: {told}" for name, told in categories.items())
        try:
            http = pinned_client(self._settings.base_url, timeout_s=MODEL_S)
            async with openai.AsyncOpenAI(
                base_url=self._settings.base_url, api_key=key, max_retries=0, http_client=http
            ) as client:
                answer = await client.chat.completions.create(
                    model=self._settings.model,
                    messages=[{"role": "system", "content": f"{_TASK}{listed}"}, {"role": "user", "content": text}],
                    tools=[_definition(tuple(categories))],
                    tool_choice={"type": "function", "function": {"name": _NAME}},
                )
        except openai.APIStatusError as error:
            message = f"the router's model answered {error.status_code}"
            raise ModelFailure(message) from None
        except openai.OpenAIError:
            message = "the router's model cannot be reached"
            raise ModelFailure(message) from None
        return _chosen(answer, categories)


def _definition(names: tuple[str, ...]) -> dict[str, Any]:
    values = {"type": "array", "items": {"type": "string", "enum": list(names)}}
    parameters = {
        "type": "object",
        "properties": {"categories": values},
        "required": ["categories"],
        "additionalProperties": False,
    }
    return {"type": "function", "function": {"name": _NAME, "parameters": parameters, "strict": True}}


def _chosen(answer: Any, categories: Mapping[str, str]) -> list[str]:
    try:
        call = answer.choices[0].message.tool_calls[0]
        named = json.loads(call.function.arguments)["categories"]
    except (AttributeError, IndexError, KeyError, TypeError, ValueError):
        message = "the router's model named no categories"
        raise ModelFailure(message) from None
    strange = [name for name in named if name not in categories] if isinstance(named, list) else [named]
    if strange:
        message = f"the router's model named an unknown category ({str(strange[0])[:50]!r})"
        raise ModelFailure(message)
    return list(dict.fromkeys(named))
