"""A source that a query names outweighs other words, and its name is no content."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from codemode.catalog.catalog import Catalog
from codemode.search.index.index import Index
from codemode.settings import SourceSettings
from codemode.sources.factory import load_source
from codemode.sources.loader import catalog_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from codemode.catalog.tool import Tool


@pytest.fixture
def index(tool: Callable[..., Tool]) -> Index:
    return Index.build(
        [
            tool("netlify.add_member_to_account", "Adds a member to the account."),
            tool("netlify.list_sites", "Returns all sites."),
            tool("github.invite_colleague_to_team", "Invites a colleague to a team."),
            tool("github.list_issues", "Lists issues. Netlify is mentioned here."),
            tool("digitalocean.list_droplets", "Lists all droplets."),
            tool("linear.create_issue", "Creates an issue."),
            tool("statistics.fit_linear_model", "Fits a linear regression model."),
            tool("statistics.linear_trend", "Fits a linear trend."),
        ]
    )


@pytest.mark.parametrize(
    ("query", "source"),
    [
        ("invite a colleague to our netlify team", "netlify"),
        ("Netlify: list everything", "netlify"),
        ("list issues on github", "github"),
        ("droplets of digital ocean", "digitalocean"),
        ("create an issue in linear", "linear"),
        ("fit a linear regression model", "statistics"),
        ("a model with linear trend", "statistics"),
    ],
)
def test_a_named_source_comes_first(index: Index, query: str, source: str) -> None:
    assert index.search(query).hits[0].namespace == source


def test_the_name_of_a_source_is_no_content(index: Index) -> None:
    ids = [hit.tool.id for hit in index.search("list netlify sites").hits]
    assert ids[:2] == ["netlify.list_sites", "netlify.add_member_to_account"]


def test_two_named_sources_are_both_content(tool: Callable[..., Tool]) -> None:
    index = Index.build(
        [
            tool("kubernetes.list_pods", "Lists pods."),
            tool("digitalocean.list_kubernetes_clusters", "Lists the clusters."),
            tool("digitalocean.list_database_clusters", "Lists the clusters."),
        ]
    )
    assert index.search("digitalocean kubernetes clusters").hits[0].tool.id == "digitalocean.list_kubernetes_clusters"


def test_a_namespace_with_a_generic_ending_is_named_without_it(tool: Callable[..., Tool]) -> None:
    index = Index.build(
        [tool("acme_api_v2.list_orders", "Lists."), tool("shop.list_orders", "Lists orders of the shop.")]
    )
    assert index.search("orders at acme").hits[0].namespace == "acme_api_v2"


@pytest.mark.parametrize(
    ("title", "query", "is_named"),
    [
        ("Netlify API", "sites of netlify", True),
        ("GitHub v3 REST API", "GitHub: list the sites", True),
        ("https://api.netlify.com/v1", "sites of Netlify", True),
        ("https://www.acme.co.uk", "sites at acme", True),
        ("Docker Engine API", "docker engine sites", True),
        ("Sites", "list the sites", False),
        ("The REST API of our own company", "list the sites of our own company", False),
        ("https://127.0.0.1:8080", "list the sites of 127", False),
        ("http://localhost:8080", "list the sites of localhost", False),
        ("https://[", "list the sites", False),
        ("https://{region}.netlify.com/{version}", "sites of netlify", True),
        ("https://my-shop.com", "sites of my shop", False),
    ],
)
def test_a_source_is_named_by_the_title_and_the_host_of_its_document(
    tool: Callable[..., Tool], title: str, query: str, is_named: bool
) -> None:
    tools = [
        tool("api.list_things", "Returns all sites of one account."),
        tool("other.list_sites", "Returns all sites."),
    ]
    index = Index.build(tools, titles={"api": (title,)})
    assert index.search(query).hits[0].tool.source == ("api" if is_named else "other")


def test_a_title_that_says_what_the_tools_are_about_is_content(tool: Callable[..., Tool]) -> None:
    tools = [tool("api.list_gadgets", "Returns gadgets."), tool("api.list_owners", "Returns owners of gadgets.")]
    named = Index.build(tools, titles={"api": ("Gadgets API",)})
    plain = Index.build(tools)
    for query in ("gadgets", "owners of gadgets", "list everything in gadgets"):
        assert [(hit.tool.id, hit.score) for hit in named.search(query).hits] == [
            (hit.tool.id, hit.score) for hit in plain.search(query).hits
        ]


async def test_a_catalog_knows_the_title_and_the_servers_of_each_document(tmp_path: Path) -> None:
    document = {
        "openapi": "3.0.3",
        "info": {"title": "Netlify API", "version": "1"},
        "servers": [{"url": "https://api.netlify.com"}],
        "paths": {"/things": {"get": {"operationId": "listThings"}}, "/all": {"get": {"operationId": "listAll"}}},
    }
    file = tmp_path / "api.json"
    file.write_text(json.dumps(document), encoding="utf-8")
    loaded = await load_source("api", SourceSettings(location=str(file)))
    catalog = catalog_of({"api": loaded})
    titles = {"api": ("Netlify API", "https://api.netlify.com")}
    assert catalog.titles == titles
    assert catalog.with_tools(catalog).merged(Catalog()).restricted(lambda _: True).titles == titles
