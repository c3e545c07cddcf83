"""The summaries of tools whose descriptions begin alike."""

from __future__ import annotations

from codemode.catalog.tool import Tool
from codemode.sources.openings import told_apart
from codemode.text.prose import first_sentence

OPENING = "This tool belongs to the file system. It is a simple file system. Tool description: "


def tool(name: str, description: str) -> Tool:
    return Tool(f"api.{name}", source="api", summary=first_sentence(description), description=description)


def summaries(*descriptions: str) -> list[str]:
    return [one.summary for one in told_apart(tool(f"f{n}", text) for n, text in enumerate(descriptions))]


def test_a_family_is_told_apart_by_what_follows_its_opening() -> None:
    assert summaries(f"{OPENING}Move a file. Deletes nothing.", f"{OPENING}Copy a file.", f"{OPENING}List files.") == [
        "Move a file",
        "Copy a file",
        "List files",
    ]


def test_other_summaries_stay() -> None:
    two = (f"{OPENING}Move a file.", f"{OPENING}Copy a file.")
    assert summaries(*two) == ["This tool belongs to the file system"] * 2
    assert summaries("Get a user.", "Get a user.", "Get a user.") == ["Get a user"] * 3
    assert summaries("Get a user by id", "Get a user by name", "Get a user by mail")[0] == "Get a user by id"


def test_a_tool_that_has_the_opening_alone_keeps_its_summary_or_is_named_by_it() -> None:
    first, *_ = summaries(OPENING, f"{OPENING}Copy a file.", f"{OPENING}List files.")
    assert first != ""
