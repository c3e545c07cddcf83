"""What a model reads as the answer to a search: callable signatures within a budget."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from codemode.catalog import tokens
from codemode.catalog.catalog import Catalog
from codemode.catalog.tool import Effect
from codemode.search.answer import render
from codemode.search.index import Index
from codemode.search.query import Query

if TYPE_CHECKING:
    from tests.codemode.search.conftest import ToolFactory


@pytest.fixture
def index(tool: ToolFactory) -> Index:
    member = {"member_id": {"type": "integer", "description": "Which member is meant."}}
    return Index.build(
        Catalog(
            [
                tool(f"gym.members.{verb}", f"{verb.title()} a member.", parameters=member, required=("member_id",))
                for verb in ("freeze", "unfreeze", "delete", "get", "update")
            ]
            + [tool(f"gym.classes.{verb}", f"{verb.title()} a class of the timetable.") for verb in ("list", "create")]
            + [tool(f"gym.report_{n}.get", f"Report on member and class number {n}.") for n in range(60)]
        )
    )


def test_the_first_hit_of_each_search_leads_and_signatures_can_be_called(index: Index) -> None:
    lines = render(index.search(Query(("freeze member", "create class")))).splitlines()
    assert lines[0] == "# 'freeze member'"
    assert lines[1].startswith("gym.members.freeze(*, member_id: int)")
    assert lines[2] == "# 'create class'"
    assert lines[3].startswith("gym.classes.create()")


@pytest.mark.parametrize("budget", [150, 400, 1200])
@pytest.mark.parametrize("searches", [1, 4])
@pytest.mark.parametrize("detail", ["auto", "full"])
def test_an_answer_keeps_within_its_budget(index: Index, budget: int, searches: int, detail: str) -> None:
    queries = ("gym.members.freeze", "member class report", "list classes", "report")[:searches]
    answer = render(index.search(Query(queries, limit=100)), budget_tokens=budget, detail=detail)  # type: ignore[arg-type]
    assert tokens.count(answer) <= budget


def test_full_detail_on_an_exact_name_documents_the_parameters(index: Index) -> None:
    answer = render(index.search("gym.members.freeze"), detail="full")
    assert "Which member is meant." in answer
    assert "Which member is meant." not in render(index.search("gym.members.freeze"))


def test_the_answer_says_how_many_hits_there_are(index: Index) -> None:
    hits = index.search(Query(("report",), limit=5))
    assert render(hits).splitlines()[-1].startswith(f"# 5 of {hits.total} hits")


def test_no_match_says_so_and_names_the_nearest(index: Index) -> None:
    assert render(index.search("xxqqyyww")).startswith("# no tool matches 'xxqqyyww'")
    destructive = Query(("xxqqyyww",), namespace="gym.members", effect=Effect.READ)
    assert "in namespace 'gym.members' in effect 'read'" in render(index.search(destructive))


def test_a_search_without_a_match_is_named_beside_the_others(index: Index) -> None:
    answer = render(index.search(Query(("freeze member", "xxqqyyww"))))
    assert "# 'xxqqyyww': no tool matches" in answer.splitlines()


def test_a_page_after_the_last_says_so(index: Index) -> None:
    hits = index.search(Query(("freeze",), offset=500))
    assert render(hits) == f"# no more hits: {hits.total} in all, asked from 500"
