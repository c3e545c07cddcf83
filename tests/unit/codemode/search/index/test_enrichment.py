"""Enrichment: search texts from the configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from codemode.catalog.catalog import Catalog
from codemode.errors import ConfigurationError
from codemode.search.index.enrichment import enriched
from codemode.search.index.index import Index
from codemode.search.query import Query
from codemode.search.render import render
from codemode.settings import Settings, load_settings
from codemode.text.clock import Clock

if TYPE_CHECKING:
    from pathlib import Path

    from tests.unit.codemode.search.conftest import ToolFactory


@pytest.fixture
def catalog(tool: ToolFactory) -> Catalog:
    return Catalog(
        [
            tool("gym.memberships.freeze", "Suspends a membership.", aliases=("freezeMembership",), tags=("members",)),
            tool("gym.memberships.get", "Shows a membership."),
            tool("gym.classes.list", "Lists classes."),
            tool("shop.orders.list", "Lists orders.", examples=("shop.orders.list(state='quibbled')",)),
            tool("shop.orders.get", "Shows an order.", related=("shop.zorkmids.convert",)),
        ]
    )


def _settings(**enrichment: object) -> Settings:
    return Settings.model_validate({"search": {"enrichment": enrichment}})


def first(catalog: Catalog, query: Query | str) -> str:
    return Index.build(catalog).search(query).hits[0].tool.id


def test_synonyms_and_examples_are_searched_but_not_shown(catalog: Catalog) -> None:
    more = {"synonyms": ["sabbatical"], "examples": ["I am off to Kathmandu for a month"]}
    both = enriched(catalog, _settings(freezeMembership=more))
    for query in ("sabbatical", "going to kathmandu"):
        assert Index.build(catalog).search(query).total == 0
        hits = Index.build(both).search(query)
        assert hits.hits[0].tool.id == "gym.memberships.freeze"
        assert "examples" in " ".join(hits.hits[0].matched)
        for detail in ("auto", "full"):
            answer = render(Index.build(both).search("gym.memberships.freeze"), detail=detail).casefold()
            assert "sabbatical" not in answer
            assert "kathmandu" not in answer


def test_enrichment_applies_to_whole_sources_and_groups(catalog: Catalog) -> None:
    both = enriched(catalog, _settings(gym={"tags": ["fitness"]}, **{"gym.memberships": {"tags": ["contracts"]}}))
    index = Index.build(both)
    assert index.search(Query(("list classes show membership",), tag="Fitness")).total == 3
    assert {hit.tool.id for hit in index.search(Query(("membership",), tag="contracts")).hits} == {
        "gym.memberships.freeze",
        "gym.memberships.get",
    }
    assert both.get("gym.memberships.freeze").tags == ("members", "fitness", "contracts")
    assert first(both, "fitness classes") == "gym.classes.list"


def test_examples_and_names_of_linked_tools_are_searched(catalog: Catalog) -> None:
    assert first(catalog, "quibbled") == "shop.orders.list"
    assert first(catalog, "convert zorkmids") == "shop.orders.get"


def test_all_unknown_names_are_reported_with_line_and_nearest_name(catalog: Catalog, tmp_path: Path) -> None:
    path = tmp_path / "codemode.yaml"
    path.write_text(
        "sources: {gym: {location: gym.yaml}}\n"
        "search:\n"
        "  enrichment:\n"
        "    gym.memberships.freez: {synonyms: [x]}\n"
        "    gym.classes.list: {tags: [y]}\n"
        "    qqqqq: {tags: [z]}\n",
        encoding="utf-8",
    )
    with pytest.raises(ConfigurationError) as caught:
        enriched(catalog, load_settings(path))
    lines = str(caught.value).splitlines()
    assert lines[0].startswith(f"{path}, line 4: search.enrichment.gym.memberships.freez: there is no tool, ")
    assert "nearest: gym.memberships.freeze" in lines[0]
    assert lines[1].startswith(f"{path}, line 6: search.enrichment.qqqqq: ")
    assert lines[1].endswith("nearest: gym, shop")


def test_without_enrichment_the_catalog_is_unchanged(catalog: Catalog) -> None:
    assert enriched(catalog, _settings()) is catalog


def test_the_operation_that_a_clock_names_is_found_for_today_in_its_source_only(tool: ToolFactory) -> None:
    tools = [
        tool("gym.core.get_gym_info", "Opening hours and contact."),
        tool("shop.core.get_gym_info", "Opening hours and contact."),
        tool("gym.classes.list", "Lists classes."),
    ]
    clocks = {"gym": Clock(today="the `today` of core.get_gym_info")}
    catalog = enriched(Catalog(tools, clocks=clocks), _settings())
    for query in ("what day is it today", "which time zone is it in", "today", "what is the date", "current time"):
        hits = Index.build(catalog).search(query).hits
        assert [hit.tool.id for hit in hits][:1] == ["gym.core.get_gym_info"], query
    assert catalog.get("shop.core.get_gym_info").retrieval_text == ""
