"""Keys: who may use the server, the revoking of a key, and a new text for one's own key.

Nobody gets another key here: who could start a program with one key and decide on its calls with another would be both
of the two persons that an approval needs. `codemode keys` makes keys, for those who run the server.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

from starlette.exceptions import HTTPException
from starlette.routing import Route

from codemode.serving.auth.keys import keys_of
from codemode.serving.console.roles import is_operator, require_operator
from codemode.serving.console.session import caller_of
from codemode.text.times import SECOND_US, rfc3339

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from codemode.serving.auth.keys import Keys
    from codemode.serving.console.views import Console
    from codemode.settings import Settings

#: Seconds for which the old text of a rotated key stays valid.
GRACE_S = 24 * 3600.0


def routes(console: Console) -> list[Route]:
    """Return the routes below `/keys`."""
    service = console.service

    async def page(request: Request, text: str = "") -> Response:
        rows = await asyncio.to_thread(key_rows, service.settings, keys_of(service.settings, service.store))
        own = _own(request)
        for_operator = is_operator(request, service)
        shown = [row for row in rows if for_operator or (own and row["id"] == own)]
        return console.page(
            request,
            "keys/list.html",
            title="Keys",
            data={"keys": shown},
            own=own,
            for_operator=for_operator,
            text=text,
            roles=list(service.settings.policy.known_roles()),
        )

    async def list_(request: Request) -> Response:
        return await page(request)

    async def rotate(request: Request) -> Response:
        id_ = request.path_params["id"]
        if id_ != _own(request):
            raise HTTPException(403, "only the holder of a key gets its new text; revoke the key instead")
        keys = keys_of(service.settings, service.store)
        _, text = await asyncio.to_thread(keys.rotate, id_, grace_s=GRACE_S)
        return await page(request, text)

    async def revoke(request: Request) -> Response:
        require_operator(request, service)
        keys = keys_of(service.settings, service.store)
        key = await asyncio.to_thread(keys.revoke, request.path_params["id"])
        return console.redirect(request, "keys", message=f"The key {key.id} is revoked.")

    return [
        Route("/keys", list_),
        Route("/keys/{id}/rotate", rotate, methods=["POST"]),
        Route("/keys/{id}/revoke", revoke, methods=["POST"]),
    ]


def _own(request: Request) -> str:
    """Return the id of the person's key, "" for one that `codemode keys` did not make."""
    kind, _, id_ = caller_of(request).id.partition(":")
    return id_ if kind == "key" else ""


def key_rows(settings: Settings, keys: Keys) -> list[dict[str, Any]]:
    """Return the keys without their secrets: those of the configuration first, then those made with `codemode keys`."""
    configured = [
        {
            "id": "",
            "label": key.label or f"key {number}",
            "role": key.role,
            "status": "active",
            "place": "configuration",
        }
        for number, key in enumerate(settings.server.keys, 1)
    ]
    made = [
        {
            "id": key.id,
            "label": key.label,
            "role": key.role,
            "status": key.status(time.time()),
            "place": "codemode keys",
            "created": rfc3339(key.created * SECOND_US),
            "expires": rfc3339(key.expires * SECOND_US) if key.expires else None,
        }
        for key in keys.entries()
    ]
    return [*configured, *made]
