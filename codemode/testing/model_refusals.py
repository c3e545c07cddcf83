"""Checks that reject a request as OpenAI's API does, with the same messages: tools, names, unanswered calls."""

from __future__ import annotations

import re
from typing import Any

#: Limits on the functions of a request (API reference, chat completions, `tools`).
MOST_TOOLS = 128
NAME = re.compile(r"[a-zA-Z0-9_-]+")
LONGEST_NAME = 64


class Refused(Exception):
    """The request is rejected. The message is the API's own."""

    def __init__(self, message: str, *, param: str | None = None, code: str | None = None, status: int = 400) -> None:
        super().__init__(message)
        self.param = param
        self.code = code
        self.status = status

    def to_json(self) -> dict[str, Any]:
        """Return the content of `error` in the answer."""
        return {"message": str(self), "type": "invalid_request_error", "param": self.param, "code": self.code}


def check_chat(body: dict[str, Any]) -> None:
    """Check a chat completions request. Raises Refused."""
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        raise Refused(
            "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead.",
            param="messages",
            code="empty_array",
        )
    tools = body.get("tools")
    if tools is not None:
        _check_tools([(f"tools[{at}].function", tool.get("function") or {}) for at, tool in enumerate(tools)])
    choice = body.get("tool_choice")
    _check_choice(choice["function"]["name"] if isinstance(choice, dict) else None, choice, body, "function")
    _check_answers(messages)


def check_responses(body: dict[str, Any]) -> None:
    """Check a Responses API request. Raises Refused."""
    given = body.get("input")
    if not given:
        raise Refused("Missing required parameter: 'input'.", param="input", code="missing_required_parameter")
    tools = body.get("tools")
    if tools is not None:
        _check_tools([(f"tools[{at}]", tool) for at, tool in enumerate(tools)])
    choice = body.get("tool_choice")
    _check_choice(choice["name"] if isinstance(choice, dict) else None, choice, body, None)
    if isinstance(given, list):
        _check_items(given)


def _check_tools(tools: list[tuple[str, dict[str, Any]]]) -> None:
    if not tools:
        raise Refused(
            "Invalid 'tools': empty array. Expected an array with minimum length 1, but got an empty array instead.",
            param="tools",
            code="empty_array",
        )
    if len(tools) > MOST_TOOLS:
        message = (
            f"Invalid 'tools': array too long. Expected an array with maximum length {MOST_TOOLS}, "
            f"but got an array with length {len(tools)} instead."
        )
        raise Refused(message, param="tools", code="array_above_max_length")
    seen: set[str] = set()
    for place, function in tools:
        _check_function(place, function)
        name = function["name"]
        if name in seen:
            message = f"Invalid '{place}.name': the name {name!r} is given to more than one function."
            raise Refused(message, param=f"{place}.name", code="invalid_value")
        seen.add(name)


def _check_function(place: str, function: dict[str, Any]) -> None:
    name = function.get("name")
    if not isinstance(name, str) or not name:
        message = f"Missing required parameter: '{place}.name'."
        raise Refused(message, param=f"{place}.name", code="missing_required_parameter")
    if len(name) > LONGEST_NAME:
        message = (
            f"Invalid '{place}.name': string too long. Expected a string with maximum length {LONGEST_NAME}, "
            f"but got a string with length {len(name)} instead."
        )
        raise Refused(message, param=f"{place}.name", code="string_above_max_length")
    if not NAME.fullmatch(name):
        message = (
            f"Invalid '{place}.name': string does not match pattern. "
            "Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'."
        )
        raise Refused(message, param=f"{place}.name", code="invalid_value")
    parameters = function.get("parameters", {"type": "object"})
    if parameters.get("type") != "object":
        message = (
            f"Invalid schema for function '{name}': schema must be a JSON Schema of 'type: \"object\"', "
            f"got 'type: \"{parameters.get('type')}\"'."
        )
        raise Refused(message, param=f"{place}.parameters", code="invalid_function_parameters")


def _check_choice(name: str | None, choice: Any, body: dict[str, Any], under: str | None) -> None:
    tools = body.get("tools")
    for key in ("tool_choice", "parallel_tool_calls"):
        if body.get(key) is not None and tools is None:
            message = f"'{key}' is only allowed when 'tools' are specified."
            raise Refused(message, param=key)
    if isinstance(choice, str) and choice not in ("auto", "required", "none"):
        message = f"Invalid value: '{choice}'. Supported values are: 'none', 'auto', and 'required'."
        raise Refused(message, param="tool_choice", code="invalid_value")
    names = [(tool[under] if under else tool)["name"] for tool in tools or ()]
    if name is not None and name not in names:
        message = f"Tool choice '{name}' not found in 'tools' parameter."
        raise Refused(message, param="tool_choice", code="invalid_value")


def _check_answers(messages: list[dict[str, Any]]) -> None:
    """Check that answers directly follow their calls, and that every call has one. Raises Refused."""
    waiting: list[str] = []
    for at, message in enumerate([*messages, {"role": "end"}]):
        if message["role"] == "tool":
            if message.get("tool_call_id") not in waiting:
                text = (
                    "Invalid parameter: messages with role 'tool' must be a response to a preceeding message "
                    "with 'tool_calls'."
                )
                raise Refused(text, param=f"messages.[{at}].role")
            waiting.remove(message["tool_call_id"])
            continue
        if waiting:
            text = (
                "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
                f"'tool_call_id'. The following tool_call_ids did not have response messages: {', '.join(waiting)}"
            )
            raise Refused(text, param="messages")
        waiting = [call["id"] for call in message.get("tool_calls") or ()]


def _check_items(items: list[dict[str, Any]]) -> None:
    calls = [item["call_id"] for item in items if item.get("type") == "function_call"]
    outputs = [item["call_id"] for item in items if item.get("type") == "function_call_output"]
    for id_ in outputs:
        if id_ not in calls:
            message = f"No tool call found for function call output with call_id {id_}."
            raise Refused(message, param="input")
    for id_ in calls:
        if id_ not in outputs:
            message = f"No tool output found for function call {id_}."
            raise Refused(message, param="input")
