"""Conversations: what each has stored, until when, its programs, and their end.

The id of a conversation is never recorded. Its digest stands for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from starlette.exceptions import HTTPException
from starlette.routing import Route

from codemode.executions.types.records import CONVERSATION
from codemode.features.conversations.conversations import Conversations
from codemode.serving.console.execution_list import FigureReader, Wanted, list_executions
from codemode.serving.console.session import caller_of
from codemode.text.counted import counted
from codemode.text.shrunk_json import shrink
from codemode.text.times import rfc3339

if TYPE_CHECKING:
    from collections.abc import Iterable

    from starlette.requests import Request
    from starlette.responses import Response

    from codemode.executions.types.records import StoredExecution
    from codemode.executions.types.state_values import StoredValue
    from codemode.gateway.caller import Caller
    from codemode.service import CodeMode
    from codemode.serving.console.views import Console

#: Programs whose conversations are listed, programs of one conversation, and characters of a value.
LOOKED_AT, ROWS, MOST_VALUE = 500, 50, 2_000

#: Digits of a digest that name a conversation to people.
_SHORT = 12


def has_conversations(_: Request, service: CodeMode) -> bool:
    """Show the section where conversations are recorded."""
    return service.settings.keeps_journal and service.runtime.features.find(Conversations) is not None


def routes(console: Console) -> list[Route]:
    """Return the routes below `/conversations`."""
    service, figures = console.service, FigureReader(console.service)

    async def list_(request: Request) -> Response:
        caller = caller_of(request)
        values = await service.part(Conversations).values(caller)
        newest = await service.executions.list(caller, limit=LOOKED_AT)
        return console.page(
            request,
            "conversations/list.html",
            title="Conversations",
            data={"conversations": conversation_rows(values, newest)},
        )

    async def show(request: Request) -> Response:
        caller, digest = caller_of(request), request.path_params["digest"]
        values = await service.part(Conversations).values(caller, digest)
        listed = await list_executions(service, caller, Wanted(conversation=digest), most=ROWS)
        if not values and not listed.executions:
            raise HTTPException(404, "there is no such conversation, or its values have expired")
        return console.page(
            request,
            "conversations/conversation.html",
            title=f"Conversation {digest[:_SHORT]}",
            data={
                "conversation": digest,
                "owner": values[0].key.owner if values else listed.executions[0].request.owner,
                "values": [await _shown(service, one, caller) for one in values],
                "executions": [await figures.row(stored, caller) for stored in listed.executions],
            },
        )

    async def remove(request: Request) -> Response:
        digest = request.path_params["digest"]
        removed = await service.part(Conversations).remove(digest, caller_of(request))
        return console.redirect(request, "conversations", message=f"{counted(removed, 'value')} deleted.")

    return [
        Route("/conversations", list_),
        Route("/conversations/{digest}", show),
        Route("/conversations/{digest}/delete", remove, methods=["POST"]),
    ]


def conversation_rows(values: Iterable[StoredValue], executions: Iterable[StoredExecution]) -> list[dict[str, Any]]:
    """Return the conversations of stored values and of executions, those with the newest programs first."""
    rows: dict[str, dict[str, Any]] = {}

    def row(digest: str, owner: str) -> dict[str, Any]:
        empty = {"programs": 0, "last": None, "values": 0, "size_bytes": 0, "expires": None}
        return rows.setdefault(digest, {"conversation": digest, "name": digest[:_SHORT], "owner": owner, **empty})

    for stored in executions:
        if digest := stored.request.settings.get(CONVERSATION):
            one = row(digest, stored.request.owner)
            one["programs"] += 1
            one["last"] = one["last"] or rfc3339(stored.created_us)
    for value in values:
        one = row(value.key.conversation, value.key.owner)
        one["values"] += 1
        one["size_bytes"] += value.size_bytes
        one["expires"] = one["expires"] or rfc3339(value.expires_us)  # the newest value expires last
    return list(rows.values())


async def _shown(service: CodeMode, value: StoredValue, caller: Caller) -> dict[str, Any]:
    """Return a value with the beginning of its JSON."""
    data = await service.part(Conversations).load(value.key, caller)
    text, cuts = shrink(data, MOST_VALUE) if data is not None else ("", ())
    return {
        "name": value.key.name,
        "size_bytes": value.size_bytes,
        "expires": rfc3339(value.expires_us),
        "value": "\n".join((text, *cuts)),
    }
