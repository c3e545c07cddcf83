"""Intent: requests to read and requests to change, on an API whose reads are sent with POST."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from codemode.catalog.tool import Effect
from codemode.search.documents.weights import Weights
from codemode.search.index.index import Index
from codemode.search.interpretation.term_weights import read

if TYPE_CHECKING:
    from tests.unit.codemode.search.conftest import ToolFactory


@pytest.fixture
def index(tool: ToolFactory) -> Index:
    writes, destroys = {"effect": Effect.WRITE}, {"effect": Effect.DESTRUCTIVE}
    fields = {"name": {"type": "string", "description": "The name to list, shown to all"}, "phone": {"type": "string"}}
    return Index.build(
        [
            tool("press.jobs.create_job", "Creates a job.", parameters=fields, **writes),
            tool("press.jobs.update_job", "Updates a job.", parameters=fields, **writes),
            tool("press.jobs.set_job_state", "Sets the state of a job.", parameters={"state": {}}, **writes),
            tool("press.jobs.delete_job", "Deletes a job.", **destroys),
            tool("press.jobs.read_job", "Get a job by id."),
            tool("press.jobs.read_jobs", "Query for jobs.", aliases=("read_jobs_jobs_filter_post",), **writes),
            tool("press.jobs.count_jobs", "Count jobs.", **writes),
            tool("press.clients.create_client", "Creates a client.", parameters=fields, **writes),
            tool("press.clients.read_clients", "Query for clients.", **writes),
            tool("press.clients.watch_client", "Watch a client.", **writes),
            tool("press.clients.delete_client_subscription", "Stop to watch a client.", **destroys),
            tool("press.users.get_self", "The user of this key."),
            tool("press.users.get_user", "A user by id."),
            tool("press.charges.update_refund", "Updates the reason of a refund.", **writes),
            tool("press.charges.get_refund", "A refund by its id."),
            tool("press.refunds.create", "Refunds a charge, in part or in full.", **writes),
        ]
    )


def first(index: Index, query: str) -> str:
    return index.search(query).hits[0].tool.id


@pytest.mark.parametrize(
    "query",
    [
        "list jobs",
        "show all jobs",
        "find jobs",
        "query jobs",
        "filter jobs by name",
        "which jobs are there",
        "are there any jobs",
        "jobs",
    ],
)
def test_a_request_for_things_finds_the_list_that_is_sent_with_post(index: Index, query: str) -> None:
    assert first(index, query) == "press.jobs.read_jobs"


def test_how_many_finds_the_count(index: Index) -> None:
    assert first(index, "how many jobs are there") == "press.jobs.count_jobs"


def test_nouns_of_arguments_find_the_list_before_the_write_with_these_arguments(index: Index) -> None:
    assert first(index, "clients by name") == "press.clients.read_clients"


@pytest.mark.parametrize("query", ["create a job", "please add a new job"])
def test_a_request_to_create_still_finds_the_write(index: Index, query: str) -> None:
    assert first(index, query) == "press.jobs.create_job"


@pytest.mark.parametrize("query", ["cancel a job", "pause the job", "archive a job"])
def test_a_change_of_state_finds_the_update_of_the_state_and_not_the_deletion(index: Index, query: str) -> None:
    assert first(index, query) == "press.jobs.set_job_state"


def test_a_verb_finds_the_creation_of_its_noun(index: Index) -> None:
    assert first(index, "refund a charge") == "press.refunds.create"


def test_a_word_that_undoes_an_action_does_not_find_the_action(index: Index) -> None:
    assert first(index, "unwatch a client") == "press.clients.delete_client_subscription"


def test_who_am_i_finds_the_user_of_the_key(index: Index) -> None:
    assert first(index, "who am i") == "press.users.get_self"


@pytest.mark.parametrize(
    ("query", "reads"),
    [
        ("which users are active?", 1.0),
        ("how do I delete a user", 0.0),
        ("can you show me the users", 1.0),
        ("list the users and delete the old ones", 0.0),
        ("There was a fire. Which users were hit?", 0.0),
        ("schedule of a deployment", 0.5),
        ("schedule a deployment", 0.0),
        ("remind me tomorrow", 0.0),
        ("open invoices of members", 0.0),
    ],
)
def test_what_a_query_asks_for(query: str, reads: float) -> None:
    assert read(query, Weights()).intent.reads == reads


@pytest.mark.parametrize("query", ["design a logo", "display the page", "describe the job", "unpaid invoices"])
def test_a_word_that_only_begins_like_one_that_undoes_is_none(query: str) -> None:
    deletes = 1 << 6
    assert not read(query, Weights()).intent.leading & deletes
