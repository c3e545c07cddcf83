"""Arguments of a tool as words of a command line: `limit=3 name=Ann tags='["a", "b"]'`."""

from __future__ import annotations

import json
from keyword import iskeyword
from typing import TYPE_CHECKING, Any

from codemode.catalog.validation import fits
from codemode.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from codemode.catalog.tool import Tool


def arguments_of(tool: Tool, words: Iterable[str]) -> dict[str, Any]:
    """Return the arguments that `KEY=VALUE` words give.

    A value is JSON where it is JSON, else text. JSON that the parameter's schema rejects is text if the schema accepts
    that: `phone=123` is "123" for a string. Raises ConfigurationError for a word without `=` and for a repeated key.
    """
    found: dict[str, Any] = {}
    for word in words:
        key, is_given, text = word.partition("=")
        if not is_given or not key:
            message = f"the argument {word!r} is not KEY=VALUE; {tool.id} takes: {', '.join(tool.parameter_names)}"
            raise ConfigurationError(message)
        if key in found:
            message = f"the argument {key!r} is given twice; give a list as JSON: {key}='[1, 2]'"
            raise ConfigurationError(message)
        found[key] = _value(tool, key, text)
    return found


def call_of(tool: Tool, arguments: Mapping[str, Any]) -> str:
    """Return the program that calls a tool: `gym.clients.get_clients_list(limit=3)`.

    Keywords are checked before the program runs. Only a name that is no keyword, such as `per-page`, is unpacked.
    """
    keywords = [f"{name}={value!r}" for name, value in arguments.items() if _is_keyword(name)]
    others = {name: value for name, value in arguments.items() if not _is_keyword(name)}
    return f"{tool.id}({', '.join([*keywords, *([f'**{others!r}'] if others else [])])})"


def _is_keyword(name: str) -> bool:
    return name.isidentifier() and not iskeyword(name)


def _value(tool: Tool, key: str, text: str) -> Any:
    try:
        value = json.loads(text, parse_constant=_reject)
    except (ValueError, RecursionError):
        return text
    parameter = next((one for one in tool.parameters if key in (one.name, one.wire_name)), None)
    is_text = parameter is not None and not fits(parameter.schema, value) and fits(parameter.schema, text)
    return text if is_text else value


def _reject(constant: str) -> None:
    raise ValueError(constant)  # NaN and Infinity are not JSON
