"""Writes that look like reads: what is proposed, and what is not."""

from __future__ import annotations

import pytest

from codemode.catalog.schema import Schema
from codemode.catalog.tool import Effect, Location, Parameter, Tool
from codemode.sources.openapi.document import load_openapi
from codemode.sources.proposals import ProposedRead, looking_like_reads, proposed_reads

READS = [
    ("get_reservation_details", "Get the details of a reservation."),
    ("find_user_id_by_email", "Find the id of a user."),
    ("lookUpOrder", "Looks up an order and its charges."),
    ("list_all_product_types", ""),
    ("get_marked_mails", "Returns the mails that are marked. If one is locked, it is left out."),
    ("search_flights", "Search direct flights between two cities on a date."),
    ("batch_read_logs", "Reads many logs, by time."),
    ("count_posts", "Counts the posts of an author since the last update."),
    ("validate_template", "Checks whether a template is valid."),
    ("items.search", "Full-text search over records, books and stored items."),
]
CHANGES = [
    ("get_or_create_cart", ""),
    ("find_and_update", ""),
    ("get_next_job", "Returns the next job and marks it as taken."),
    ("read_message", "Reads a message. It will be removed from the queue."),
    ("fetch_mail", "Fetches the mails; deletes them from the server."),
    ("check_in_guest", "Checks a guest in."),
    ("check_out_book", ""),
    ("run_query", "Runs a query."),
    ("query_database", "Runs a SQL statement."),
    ("search", "Search for flights, then book the cheapest."),
    ("list_item", "Lists an item for sale, sends a mail to followers."),
    ("cancel_reservation", "Cancel the whole reservation."),
    ("book_flight", ""),
    ("calculate", "Calculate the result of an expression."),
    ("think", "Use the tool to think about something."),
    ("get_ticket", "Acquires a ticket."),
    ("view_secret", "Shows the secret once, then it is deleted."),
    ("get_unread_mails", "Returns the unread mails. They are then shown, and the mails are marked as read."),
    ("exists_or_insert", ""),
    ("get_and_increment", ""),
    ("compare_and_swap", ""),
    ("get_rid_of_user", ""),
    ("scan_host", "Starts a scan of a host."),
]


def tool(name: str, text: str, **more: object) -> Tool:
    return Tool(f"up.{name}", source="up", summary=text, description=text, key=name, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(("name", "text"), READS)
def test_a_verb_of_reading_without_a_verb_of_change_is_proposed(name: str, text: str) -> None:
    assert [one.pattern for one in proposed_reads([tool(name, text)])] == [name]


@pytest.mark.parametrize(("name", "text"), CHANGES)
def test_what_may_change_something_is_not_proposed(name: str, text: str) -> None:
    assert proposed_reads([tool(name, text)]) == ()


def test_what_is_declared_is_not_proposed() -> None:
    assert proposed_reads([tool("get_x", "", effect_said=True)]) == ()
    assert proposed_reads([tool("get_x", "", effect=Effect.DESTRUCTIVE)]) == ()
    assert proposed_reads([tool("get_x", "", effect=Effect.READ)]) == ()


def test_an_argument_that_is_a_command_is_no_read() -> None:
    sql = Parameter("sql", "sql", Location.ARGUMENT, required=True, schema=Schema.of({"type": "string"}))
    assert proposed_reads([tool("query_database", "Query the database.", parameters=(sql,))]) == ()


def test_only_a_post_is_proposed_by_its_operation_id_or_the_end_of_its_path() -> None:
    operations = {
        ("post", "/flows/filter"): "read_flows_flows_filter_post",
        ("post", "/flows/count"): "count_flows",
        ("post", "/search"): "post-search",
        ("post", "/flows/{id}/lists[all]"): "listAll",
        ("post", "/flows/{id}"): "set_flow",
        ("post", "/checks"): "checks/create",
        ("put", "/lists/{id}"): "list_replace",
        ("patch", "/search"): "search",
        ("get", "/flows"): "list_flows",
    }
    paths: dict[str, dict[str, object]] = {}
    for (method, path), operation in operations.items():
        paths.setdefault(path, {})[method] = {"operationId": operation, "responses": {}}
    document = {"openapi": "3.1.0", "info": {"title": "Up", "version": "1"}, "paths": paths}
    proposed = [one.pattern for one in proposed_reads(load_openapi(document, name="up").tools)]
    assert sorted(proposed) == [
        "POST /flows/count",
        "POST /flows/filter",
        "POST /flows/{id}/lists[[]all]",
        "POST /search",
    ]


def test_a_word_in_front_of_all_names_is_no_verb() -> None:
    names = ("slack_list_channels", "slack_get_users", "slack_post_message", "slack_reply_to_thread")
    proposed = proposed_reads([tool(name, "") for name in names])
    assert [one.pattern for one in proposed] == ["slack_list_channels", "slack_get_users"]
    assert proposed_reads([tool("git_log", ""), tool("git_list_tags", "")]) == ()
    assert len(proposed_reads([tool(f"list_{number}", "") for number in range(5)])) == 5


def test_one_write_looks_and_two_look() -> None:
    one = ProposedRead("a", "x.a", "")
    assert looking_like_reads([one]) == "1 write looks like a read"
    assert looking_like_reads([one, one]) == "2 writes look like reads"
