"""A source that a query names outweighs other words, and its name is no content."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from codemode.search.index.index import Index

if TYPE_CHECKING:
    from collections.abc import Callable

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
