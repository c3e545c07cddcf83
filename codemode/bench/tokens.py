"""Token arithmetic: what the calls of a trace cost a model as native tools, and as programs through the two tools.

Every request sends the definitions and the conversation so far. As native tools, each call is a request, and the answer
one more. In code mode, a turn is one search if not all signatures are in the definition, one
program and the answer. Results have the same tokens in both, and are
left out, which favours native tools: a program returns only what it selects.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from codemode.bench.fingerprints import RandomIds
from codemode.catalog.inline import inline
from codemode.catalog.tokens import count, local_tokenizer
from codemode.settings import tokenizer_folder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codemode.bench.results import TurnRecord
    from codemode.bench.suite import Turn
    from codemode.service import CodeMode


class TraceTokens(NamedTuple):
    """Tokens of all requests of a trace. `cached` is the input that repeats the request before; `output` is written."""

    total: int
    cached: int
    output: int


def definition_tokens(service: CodeMode) -> dict[str, int]:
    """Return the tokens of the definitions in each request: of all tools, of a menu of them, and of the two tools."""
    report = service.discovery.cost()
    return {
        "native": report.mode("native").tokens,
        "menu": report.mode("menu").tokens,
        "code": report.mode("code").tokens,
    }


def needs_search(service: CodeMode) -> bool:
    """Return whether a model has to search, since the definition of `execute` does not list all tools."""
    return not inline(service.catalog, tuple, service.settings.definitions.inline_tokens).is_whole


def trace_tokens(
    definitions: dict[str, int], turns: Sequence[Turn], records: Sequence[TurnRecord], *, searches_first: bool = True
) -> dict[str, TraceTokens]:
    """Return the tokens of all requests, if a model had made these calls, by mode (`native`, `code`).

    `searches_first` is whether code mode takes a search before the programs of a turn.

    There are none without calls, such as those of a suite whose tools are behind HTTP.
    """
    if not any(turn.calls for turn in turns):
        return {}
    ids = RandomIds()  # the same trace has the same tokens in another run
    native: list[list[str]] = []
    code: list[list[str]] = []
    for turn, record in zip(turns, records, strict=True):
        calls = [json.dumps({"name": call.tool, "arguments": call.arguments}, default=str) for call in turn.calls]
        programs = [ids.numbered(step.program) for step in record.steps]
        searches = [json.dumps({"queries": [record.message]})] if programs and searches_first else []
        answer = ids.numbered(record.answer)
        native.append([record.message, *calls, answer])
        code.append([record.message, *searches, *programs, answer])
    return {
        "native": _conversation(definitions["native"], native),
        "code": _conversation(definitions["code"], code),
    }


def _conversation(definitions: int, turns: Sequence[Sequence[str]]) -> TraceTokens:
    """Return the tokens of all requests and answers. The first text of a turn is the user's, the others the model's."""
    tokenizer = local_tokenizer(tokenizer_folder())
    inputs: list[int] = []
    output = so_far = 0
    for message, *written in turns:
        so_far += count(message, tokenizer)
        for text in written:
            tokens = count(text, tokenizer)
            inputs.append(definitions + so_far)
            output += tokens
            so_far += tokens
    return TraceTokens(sum(inputs) + output, sum(inputs[:-1]), output)
