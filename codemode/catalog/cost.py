"""Measure the tokens that a catalog costs in every request: as native tools, as a menu, as two tools."""

from __future__ import annotations

import json
import statistics
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from codemode.catalog.definitions import native, two_tools
from codemode.catalog.inline import NOTHING_INLINE
from codemode.catalog.tokens import count

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codemode.catalog.catalog import Catalog
    from codemode.catalog.inline import Inline
    from codemode.catalog.tokens import Tokenizer

#: The most tools that models distinguish reliably. OpenAI's function-calling guide: "aim for fewer than 20 functions".
NATIVE_TOOLS = 20
#: The most tokens of definitions in a request: about the size of a system prompt.
NATIVE_TOKENS = 5_000
#: The most tools in one chat-completions request.
MENU_TOOLS = 128
#: The most definitions that are counted. A larger catalog is estimated from an even sample of this size.
COUNTED_TOOLS = 2_000


@dataclass(frozen=True, slots=True)
class ModeCost:
    """One way to offer the catalog to a model: the definitions, their tokens, whether that fits, and the reason."""

    name: str
    definitions: int
    tokens: int
    fits: bool
    reason: str


@dataclass(frozen=True, slots=True)
class CostReport:
    """The cost of a catalog. `exact` is true if a tokenizer counted every tool; `method` describes the count."""

    tools: int
    median_tokens: int
    modes: tuple[ModeCost, ...]
    verdict: str
    exact: bool
    method: str

    def to_json(self) -> dict[str, Any]:
        """Return the report as JSON data."""
        return asdict(self)


def measure(catalog: Catalog, tokenizer: Tokenizer | None = None, inline: Inline = NOTHING_INLINE) -> CostReport:
    """Measure a catalog, exactly with a tokenizer, else by estimate. `inline` are the signatures in `execute`."""
    tools = catalog.tools
    counts = native_counts(catalog, tokenizer)
    total = round(sum(counts) * len(tools) / len(counts)) if counts else 0
    median = round(statistics.median(counts)) if counts else 0
    two = count(_compact(two_tools(catalog, inline)), tokenizer)
    modes = (_native(len(tools), total), _menu(len(tools), median), _code(two, inline))
    method = "with o200k_base" if tokenizer else "by estimate (no tokenizer data on this machine)"
    if len(counts) < len(tools):
        method += f", extrapolated from {len(counts):,} of {len(tools):,} tools"
    return CostReport(
        tools=len(tools),
        median_tokens=median,
        modes=modes,
        verdict=_verdict(modes),
        exact=tokenizer is not None and len(counts) == len(tools),
        method=method,
    )


def native_counts(catalog: Catalog, tokenizer: Tokenizer | None = None) -> list[int]:
    """Return the tokens of each native definition, in the catalog's order. A large catalog is sampled evenly."""
    return [count(_compact(native(tool)), tokenizer) for tool in _even_sample(catalog.tools, COUNTED_TOOLS)]


def _native(tools: int, tokens: int) -> ModeCost:
    if tools > MENU_TOOLS:
        reason = f"a request takes at most {MENU_TOOLS} tools"
    elif tools > NATIVE_TOOLS:
        reason = f"models choose unreliably among more than {NATIVE_TOOLS} tools"
    elif tokens > NATIVE_TOKENS:
        reason = f"more than {NATIVE_TOKENS:,} tokens in every turn"
    else:
        reason = f"at most {NATIVE_TOOLS} tools and {NATIVE_TOKENS:,} tokens"
    return ModeCost("native tools", tools, tokens, tools <= NATIVE_TOOLS and tokens <= NATIVE_TOKENS, reason)


def _menu(tools: int, median: int) -> ModeCost:
    offered = min(tools, NATIVE_TOOLS)
    fits = offered * median <= NATIVE_TOKENS
    reason = "for models that cannot write code" if fits else f"{offered} median tools exceed {NATIVE_TOKENS:,} tokens"
    return ModeCost(f"a menu of {offered} for each message", offered, offered * median, fits, reason)


def _code(tokens: int, inline: Inline) -> ModeCost:
    reason = "with the signatures of all tools" if inline.is_whole else "does not grow with the catalog"
    return ModeCost("two tools (code mode)", 2, tokens, True, reason)


def _verdict(modes: tuple[ModeCost, ...]) -> str:
    as_native, _, as_code = modes
    if as_native.fits:
        return "native tools fit: few enough to tell apart and cheap enough to send in every turn"
    times = as_native.tokens / as_code.tokens if as_code.tokens else 0
    return f"code mode: {times:,.0f} times fewer tokens than native tools; a menu for models that cannot write code"


def _compact(definition: Any) -> str:
    return json.dumps(definition, ensure_ascii=False, separators=(",", ":"), default=str)


def _even_sample(tools: Sequence[Any], size: int) -> Sequence[Any]:
    if len(tools) <= size:
        return tools
    return [tools[index * len(tools) // size] for index in range(size)]
