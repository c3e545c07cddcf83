"""Answers that report an error as an ordinary value, such as `{"error": "no such file"}` or `{"success": false}`.

Nothing is learned from them, and what they answer counts as not done. A record that merely has a field for an error,
beside data of its own, is no such answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

#: Fields whose content is an error, and fields that say whether it went well.
_ERRORS = ("error", "errors", "iserror", "is_error")
_SUCCESS = ("success", "ok", "succeeded")
_STATUS = ("status", "state", "result")
_FAILED = frozenset(("error", "fail", "failed", "failure"))

#: What stands beside an error and says more about it. Other fields with content are data.
_ABOUT = frozenset(
    ("code", "content", "description", "detail", "details", "errno", "error_code", "error_description", "error_uri",
     "errorcode", "errormessage", "exception", "hint", "instance", "message", "msg", "path", "reason", "request_id",
     "requestid", "status_code", "statuscode", "structuredcontent", "timestamp", "title", "trace_id", "traceid", "type",
     *_ERRORS, *_SUCCESS, *_STATUS)
)  # fmt: skip

#: A text that is an error message.
_MESSAGE = re.compile(r"\s{0,9}(?:error|exception|failed|failure)\s{0,9}:", re.IGNORECASE)

#: The beginning of such an object, of which the end is cut off.
_BEGINNING = re.compile(
    r"""\{\s{0,9}"(?:(?:errors?|is_?error)":\s{0,9}(?!null|false|0|""|\[\]|\{\})|(?:success|ok|succeeded)":\s{0,9}false"""
    r"""|status":\s{0,9}"error")""",
    re.IGNORECASE,
)


def reports_error(answer: Any) -> bool:
    """Return whether an answer is a report of an error, and nothing else."""
    if isinstance(answer, str):
        return _MESSAGE.match(answer) is not None or (answer[:1] == "{" and text_reports_error(answer))
    if not isinstance(answer, Mapping):
        return False
    fields = {str(name).casefold(): value for name, value in answer.items()}
    has_failed = (
        any(fields.get(name) for name in _ERRORS)
        or any(fields.get(name) is False for name in _SUCCESS)
        or any(isinstance(value := fields.get(name), str) and value.casefold() in _FAILED for name in _STATUS)
    )
    return has_failed and all(name in _ABOUT or not value for name, value in fields.items())


def text_reports_error(text: str) -> bool:
    """Return the same of an answer as JSON text, of which the end may be cut off."""
    try:
        return reports_error(json.loads(text))
    except (ValueError, RecursionError):
        plain = text.removeprefix('"').replace('\\"', '"')
        return _BEGINNING.match(plain) is not None or _MESSAGE.match(plain) is not None
