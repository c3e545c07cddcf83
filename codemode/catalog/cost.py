"""Measure the tokens that a catalog costs a model: as native tools, all or deferred, as a menu, as two tools.

The tokens of a task are those of definitions and search answers in all of its requests. Results of calls are left out,
which favours native tools: they send every result again in each later request.
"""

from __future__ import annotations

import json
import math
import statistics
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from codemode.catalog.definitions import native, two_tools
from codemode.catalog.inline import NOTHING_INLINE
from codemode.catalog.tokens import count
from codemode.text.counted import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codemode.catalog.catalog import Catalog
    from codemode.catalog.inline import Inline
    from codemode.catalog.tokens import Tokenizer

ModeKey = Literal["native", "deferred", "menu", "code"]

#: The most tools that models distinguish reliably. OpenAI's function-calling guide: "aim for fewer than 20 functions".
NATIVE_TOOLS = 20
#: The most tokens of definitions in a request: about the size of a system prompt.
NATIVE_TOKENS = 5_000
#: The most tools in one chat-completions request.
MENU_TOOLS = 128
#: The most definitions that are counted. A larger catalog is estimated from an even sample of this size.
COUNTED_TOOLS = 2_000


#: Tools of a menu unless the settings say otherwise.
MENU_SIZE = 15
#: Tools that one search of deferred native tools loads: the default of the two services that have such a search.
LOADED = 5
#: Estimated tokens of compact JSON definitions, for each counted one: 1.11 to 1.16 in the documents of seven services.
_ESTIMATED_PER_COUNTED = 1.15
#: Calls of the tasks that reports compare.
_TASKS = (1, 5, 20)


@dataclass(frozen=True, slots=True)
class ModeCost:
    """One way to offer the catalog to a model: the definitions, their tokens, whether that fits, and the reason.

    `turns` are the requests of a task, or None if each call is a request and the answer one more. `once` are tokens
    of the task that no request repeats: a search and its answers.
    """

    key: ModeKey
    name: str
    definitions: int
    tokens: int
    fits: bool
    reason: str
    turns: int | None = None
    once: int = 0

    def of_task(self, calls: int) -> int:
        """Return the tokens of definitions and search answers in all requests of a task with these calls."""
        turns = calls + 1 if self.turns is None else self.turns
        return self.once + turns * self.tokens

    def of_tasks(self) -> dict[int, int]:
        """Return the tokens of each task that reports compare, by its calls."""
        return {calls: self.of_task(calls) for calls in _TASKS}


@dataclass(frozen=True, slots=True)
class CostReport:
    """The cost of a catalog. `exact` is true if a tokenizer counted every tool; `method` describes the count.

    `pays` says from how many tools and calls on code mode has the fewest tokens.
    """

    tools: int
    median_tokens: int
    modes: tuple[ModeCost, ...]
    verdict: str
    pays: str
    exact: bool
    method: str

    def mode(self, key: ModeKey) -> ModeCost:
        """Return the cost of a mode."""
        return next(mode for mode in self.modes if mode.key == key)

    def to_json(self) -> dict[str, Any]:
        """Return the report as JSON data."""
        tasks = {mode.key: {str(calls): tokens for calls, tokens in mode.of_tasks().items()} for mode in self.modes}
        return asdict(self) | {"tasks": tasks}


def measure(
    catalog: Catalog,
    tokenizer: Tokenizer | None = None,
    inline: Inline = NOTHING_INLINE,
    *,
    menu_size: int = MENU_SIZE,
    answer_tokens: int = 1_200,
) -> CostReport:
    """Measure a catalog, exactly with a tokenizer, else by estimate.

    `inline` are the signatures in `execute`, `menu_size` the tools of a menu, and `answer_tokens` the longest answer of
    a search.
    """
    tools = catalog.tools
    counts = native_counts(catalog, tokenizer)
    total = round(sum(counts) * len(tools) / len(counts)) if counts else 0
    mean = sum(counts) / len(counts) if counts else 0.0
    search, execute = two_tools(catalog, inline)
    two = _tokens([search, execute], tokenizer)
    modes = (
        _native(len(tools), total),
        _deferred(len(tools), _tokens(search, tokenizer), mean),
        _menu(min(len(tools), menu_size), mean, counts),
        _code(two, inline, answer_tokens),
    )
    method = "with o200k_base" if tokenizer else "by estimate (no tokenizer data on this machine)"
    if len(counts) < len(tools):
        method += f", extrapolated from {len(counts):,} of {len(tools):,} tools"
    return CostReport(
        tools=len(tools),
        median_tokens=round(statistics.median(counts)) if counts else 0,
        modes=modes,
        verdict=_verdict(modes),
        pays=_pays(modes, mean),
        exact=tokenizer is not None and len(counts) == len(tools),
        method=method,
    )


def native_counts(catalog: Catalog, tokenizer: Tokenizer | None = None) -> list[int]:
    """Return the tokens of each native definition, in the catalog's order. A large catalog is sampled evenly."""
    return [_tokens(native(tool), tokenizer) for tool in _even_sample(catalog.tools, COUNTED_TOOLS)]


def _native(tools: int, tokens: int) -> ModeCost:
    if tools > MENU_TOOLS:
        reason = f"a request takes at most {MENU_TOOLS} tools"
    elif tools > NATIVE_TOOLS:
        reason = f"models choose unreliably among more than {NATIVE_TOOLS} tools"
    elif tokens > NATIVE_TOKENS:
        reason = f"more than {NATIVE_TOKENS:,} tokens in every turn"
    else:
        reason = f"at most {NATIVE_TOOLS} tools and {NATIVE_TOKENS:,} tokens"
    fits = tools <= NATIVE_TOOLS and tokens <= NATIVE_TOKENS
    return ModeCost("native", "native tools", tools, tokens, fits, reason)


def _deferred(tools: int, search: int, mean: float) -> ModeCost:
    """Return the cost of native tools behind a search of the model's service, which loads some of them."""
    loaded = min(tools, LOADED)
    name = f"native tools, deferred: a search and {loaded}"
    reason = "each call is a turn; each further search adds tools"
    # The first request has the search alone; those after it have what the search loaded as well.
    return ModeCost("deferred", name, 1 + loaded, round(search + loaded * mean), True, reason, once=search)


def _menu(size: int, mean: float, counts: list[int]) -> ModeCost:
    tokens, most = round(size * mean), sum(sorted(counts)[-size:]) if size else 0
    fits = tokens <= NATIVE_TOKENS
    reason = "for models that cannot write code" if fits else f"{size} tools exceed {NATIVE_TOKENS:,} tokens"
    if most > tokens:
        reason += f"; up to {most:,} tokens with the largest tools"
    return ModeCost("menu", f"a menu of {size} for each message", size, tokens, fits, reason)


def _code(tokens: int, inline: Inline, answer: int) -> ModeCost:
    reason = "with the signatures of all tools" if inline.is_whole else "does not grow with the catalog"
    # A program and the answer are two requests. A search is one more, and its answer is in both.
    searched = {"turns": 2, "once": 0} if inline.is_whole else {"turns": 3, "once": 2 * answer}
    return ModeCost("code", "two tools (code mode)", 2, tokens, True, reason, **searched)


def _verdict(modes: tuple[ModeCost, ...]) -> str:
    as_native, *_, as_code = modes
    if as_native.fits:
        return "native tools fit: few enough to tell apart and cheap enough to send in every turn"
    times = as_native.tokens / as_code.tokens if as_code.tokens else 0
    return f"code mode: {times:,.0f} times fewer tokens than native tools; a menu for models that cannot write code"


def _pays(modes: tuple[ModeCost, ...], mean: float) -> str:
    """Say from how many tools and calls on code mode has fewer tokens than native tools, all and deferred."""
    as_native, as_deferred, _, as_code = modes
    if not as_native.tokens:
        return "code mode pays once there are tools"
    code = as_code.of_task(1)
    tools = math.floor(code / (2 * mean)) + 1
    return (
        f"code mode pays from {counted(tools, 'tool')} like these on, if a task has one call; with these tools, from "
        f"{counted(_first_call(as_native, as_code), 'call')} on, and against deferred tools from "
        f"{counted(_first_call(as_deferred, as_code), 'call')} on"
    )


def _first_call(other: ModeCost, code: ModeCost) -> int:
    """Return the fewest calls of a task with which code mode has fewer tokens."""
    return max(1, math.floor((code.of_task(1) - other.once) / other.tokens))


def _tokens(definition: Any, tokenizer: Tokenizer | None) -> int:
    """Return the tokens of a definition as compact JSON."""
    text = json.dumps(definition, ensure_ascii=False, separators=(",", ":"), default=str)
    return count(text, tokenizer) if tokenizer else round(count(text) / _ESTIMATED_PER_COUNTED)


def _even_sample(tools: Sequence[Any], size: int) -> Sequence[Any]:
    if len(tools) <= size:
        return tools
    return [tools[index * len(tools) // size] for index in range(size)]
