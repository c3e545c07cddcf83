from __future__ import annotations

import json

from codemode.catalog.cost import COUNTED_TOOLS, measure
from codemode.catalog.definitions import native, two_tools
from tests.unit.codemode.catalog.catalogs import catalog


class WordTokenizer:
    """Counts words: a tokenizer whose answers a test can work out."""

    def encode_ordinary(self, text: str) -> list[int]:
        return [0] * len(text.split())


def test_a_small_catalog_fits_as_native_tools() -> None:
    report = measure(catalog(5))
    native_mode, _, code = report.modes
    assert native_mode.fits
    assert report.verdict.startswith("native tools fit")
    assert code.fits


def test_a_large_catalog_wants_code_mode_and_says_why() -> None:
    report = measure(catalog(137))
    assert [mode.fits for mode in report.modes] == [False, True, True]
    assert report.modes[0].reason == "a request takes at most 128 tools"
    assert report.verdict.startswith("code mode: ")


def test_the_total_is_the_sum_over_all_definitions_as_compact_json() -> None:
    tools = catalog(3)
    report = measure(tools, WordTokenizer())
    texts = [json.dumps(native(tool), separators=(",", ":")) for tool in tools]
    assert report.modes[0].tokens == sum(len(text.split()) for text in texts)
    assert report.median_tokens == len(texts[1].split())
    assert report.exact


def test_an_estimate_says_that_it_is_one() -> None:
    report = measure(catalog(3))
    assert not report.exact
    assert "by estimate" in report.method


def test_a_huge_catalog_is_extrapolated_and_says_so() -> None:
    size = COUNTED_TOOLS + 500
    report = measure(catalog(size), WordTokenizer())
    assert not report.exact
    assert f"extrapolated from {COUNTED_TOOLS:,} of {size:,} tools" in report.method


def test_the_two_tools_do_not_grow_with_the_catalog() -> None:
    assert two_tools(catalog(3)) == two_tools(catalog(1000))
