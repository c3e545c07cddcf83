"""Token arithmetic: what the calls of a trace cost a model as native tools, and as programs through the two tools.

Every request sends the definitions and the conversation so far. As native tools, each call is a request, and the answer
one more. In code mode, a turn is one search, one program and the answer. Results have the same tokens in both, and are
left out, which favours native tools: a program returns only what it selects.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from codemode.catalog.tokens import count, local_tokenizer
from codemode.settings import tokenizer_folder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codemode.bench.results import TurnRecord
    from codemode.bench.suite import Turn
    from codemode.service import CodeMode


def definition_tokens(service: CodeMode) -> dict[str, int]:
    """Return the tokens of the definitions in each request: of all tools (`native`), and of the two (`code`)."""
    native, *_, code = service.cost().modes
    return {"native": native.tokens, "code": code.tokens}


def trace_tokens(definitions: dict[str, int], turns: Sequence[Turn], records: Sequence[TurnRecord]) -> dict[str, int]:
    """Return the input and output tokens of all requests, if a model had made these calls, by mode."""
    native: list[list[str]] = []
    code: list[list[str]] = []
    for turn, record in zip(turns, records, strict=True):
        calls = [json.dumps({"name": call.tool, "arguments": call.arguments}, default=str) for call in turn.calls]
        programs = [step.program for step in record.steps]
        searches = [json.dumps({"queries": [record.message]})] if programs else []
        native.append([record.message, *calls, record.answer])
        code.append([record.message, *searches, *programs, record.answer])
    return {
        "native": _conversation(definitions["native"], native),
        "code": _conversation(definitions["code"], code),
    }


def _conversation(definitions: int, turns: Sequence[Sequence[str]]) -> int:
    """Return the tokens of all requests and answers. The first text of a turn is the user's, the others the model's."""
    tokenizer = local_tokenizer(tokenizer_folder())
    total = so_far = 0
    for message, *written in turns:
        so_far += count(message, tokenizer)
        for text in written:
            tokens = count(text, tokenizer)
            total += definitions + so_far + tokens
            so_far += tokens
    return total
