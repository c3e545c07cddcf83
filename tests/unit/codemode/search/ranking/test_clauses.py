"""Clauses: which parts of a request ask for an action of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from codemode.search.index.index import Index
from codemode.search.ranking.clauses import clauses

if TYPE_CHECKING:
    from tests.unit.codemode.search.conftest import ToolFactory


@pytest.mark.parametrize(
    ("query", "parts"),
    [
        ("find Jane, book her into yoga and send her a mail", ["find Jane", "book her into yoga", "send her a mail"]),
        ("close the issue. Then lock the conversation", ["close the issue", "lock the conversation"]),
        ("set my status, snooze my alarms and remind him", ["set my status", "snooze my alarms", "remind him"]),
        ("list issues and pull requests", []),
        ("list the open issues", []),
        ("convert it to PDF, including a word cloud", []),
        ("I invited three friends. Find a recipe. Book a table", ["Find a recipe", "Book a table"]),
        ("I invited three friends. Find a recipe for pasta", []),
        ("compare prices and the conversion efficiency", []),
        ("create and write a report", []),
    ],
)  # fmt: skip
def test_a_clause_begins_with_a_verb_in_its_base_form(query: str, parts: list[str]) -> None:
    assert [clause.strip() for clause in clauses(query)] == parts


def test_no_more_than_four_clauses_are_looked_at() -> None:
    assert len(clauses(", ".join(f"create the thing {number}" for number in range(9)))) == 4


def test_a_name_in_a_clause_does_not_hide_its_tool(tool: ToolFactory) -> None:
    index = Index.build(
        [
            tool("gym.clients.find", "Find a client by name."),
            tool("gym.clients.delete", "Delete a client."),
            tool("gym.classes.book", "Book a class session such as yoga."),
            tool("gym.classes.cancel", "Cancel a class session."),
            tool("gym.messages.send", "Send a message, mail or SMS to a client."),
            tool("gym.messages.list", "List messages of a client."),
        ]
    )
    hits = index.search("find the client Jane Oduya, book her into yoga and send her a mail").hits
    assert {hit.tool.id for hit in hits[:3]} == {"gym.clients.find", "gym.classes.book", "gym.messages.send"}


def test_the_score_of_a_clause_s_tool_is_that_of_its_clause(tool: ToolFactory) -> None:
    index = Index.build(
        [
            tool("shop.orders.list", "List the open orders of a customer by date and country."),
            tool("shop.mail.send", "Send a mail."),
            tool("shop.mail.list", "List mails by date and country."),
        ]
    )
    hits = index.search("list the open orders of a customer by date and country and send a mail").hits
    assert hits[1].tool.id == "shop.mail.send"
    assert hits[1].score > hits[2].score
