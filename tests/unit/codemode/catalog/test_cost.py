from __future__ import annotations

import json
import re

from codemode.catalog.catalog import Catalog
from codemode.catalog.cost import COUNTED_TOOLS, measure
from codemode.catalog.definitions import native, two_tools
from codemode.catalog.inline import inline
from codemode.testing import make_tool
from tests.unit.codemode.catalog.catalogs import catalog


def compact(definition: object) -> str:
    return json.dumps(definition, separators=(",", ":"))


class WordTokenizer:
    """Counts words: a tokenizer whose answers a test can work out."""

    def encode_ordinary(self, text: str) -> list[int]:
        return [0] * len(text.split())


def test_a_small_catalog_fits_as_native_tools() -> None:
    report = measure(catalog(5))
    native_mode, code = report.mode("native"), report.mode("code")
    assert native_mode.fits
    assert report.verdict.startswith("native tools fit")
    assert code.fits


def test_a_large_catalog_wants_code_mode_and_says_why() -> None:
    report = measure(catalog(137))
    assert {mode.key: mode.fits for mode in report.modes} == {
        "native": False,
        "deferred": True,
        "menu": True,
        "code": True,
    }
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


def test_a_menu_costs_its_mean_and_names_the_most_that_it_can_cost() -> None:
    small, large = make_tool("a.small"), make_tool("a.large", summary="word " * 5_000)
    tools = Catalog([small, large, *(make_tool(f"b.tool{number}") for number in range(18))])
    menu = measure(tools, WordTokenizer(), menu_size=5).mode("menu")
    counts = sorted(len(compact(native(tool)).split()) for tool in tools)
    assert menu.definitions == 5
    assert menu.tokens == round(5 * sum(counts) / len(counts))
    assert f"up to {sum(counts[-5:]):,} tokens with the largest tools" in menu.reason


def test_a_task_costs_a_request_for_each_native_call_and_as_many_for_each_program() -> None:
    report = measure(catalog(60), answer_tokens=1_000)
    native_mode, deferred, code = report.mode("native"), report.mode("deferred"), report.mode("code")
    assert native_mode.of_task(4) == 5 * native_mode.tokens
    assert deferred.of_task(4) == deferred.once + 5 * deferred.tokens
    assert code.of_task(4) == code.of_task(40) == 3 * code.tokens + 2 * 1_000


def test_signatures_in_the_definition_save_the_search_of_a_task() -> None:
    tools = catalog(5)
    code = measure(tools, inline=inline(tools, tuple, 2_000)).mode("code")
    assert code.of_task(4) == 2 * code.tokens


def test_code_mode_pays_from_the_first_call_that_has_fewer_tokens() -> None:
    report = measure(catalog(60))
    deferred, code = report.mode("deferred"), report.mode("code")
    (calls,) = map(int, re.findall(r"against deferred tools from (\d+) calls? on", report.pays))
    assert code.of_task(calls) < deferred.of_task(calls)
    assert calls == 1 or code.of_task(calls - 1) >= deferred.of_task(calls - 1)


def test_an_empty_catalog_pays_nothing() -> None:
    assert measure(Catalog(())).pays == "code mode pays once there are tools"
