"""Documents: the caller's own record and things are found by their paths."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from codemode.search.documents.documents import Field, fields_of
from codemode.search.index.index import Index

if TYPE_CHECKING:
    from collections.abc import Callable

    from codemode.catalog.tool import Tool


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("GET /user", "whoami myself"),
        ("GET /api/v1/users/me", "whoami myself"),
        ("GET /users/@me", "whoami myself"),
        ("GET /v2/account", "whoami myself"),
        ("GET /user/repos", "myself"),
        ("GET /users/@me/guilds", "myself"),
        ("GET /users/{id}", ""),
        ("GET /users/repos", ""),
        ("GET /accounts/{id}/user", ""),
        ("DELETE /user", ""),
        ("", ""),
    ],
)
def test_operations_on_the_caller_are_known_by_their_path(tool: Callable[..., Tool], key: str, words: str) -> None:
    assert fields_of(tool("shop.operation", key=key))[Field.EXTRA].strip() == words


def test_who_am_i_finds_the_record_of_the_caller(tool: Callable[..., Tool]) -> None:
    index = Index.build(
        [
            tool("git.users.get_authenticated", "Get the authenticated user.", key="GET /user"),
            tool("git.users.list", "List users.", key="GET /users"),
            tool("git.actions.get_self_hosted_runner", "Get a self-hosted runner.", key="GET /runners/{id}"),
            tool("git.repos.list_for_authenticated_user", "List repositories.", key="GET /user/repos"),
            tool("git.repos.list_for_user", "List repositories for a user.", key="GET /users/{name}/repos"),
        ]
    )
    assert index.search("who am I").hits[0].tool.id == "git.users.get_authenticated"
    assert index.search("my repositories").hits[0].tool.id == "git.repos.list_for_authenticated_user"
