"""The images and files of an outcome that a model or a client is shown beside the result."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codemode.catalog.content import REFERENCE_KEY, content_ids
from codemode.transports.content import ContentNotFound
from sandbox import JsonText

if TYPE_CHECKING:
    from collections.abc import Collection

    from codemode.executions.types.outcome import ExecutionOutcome
    from codemode.gateway.caller import Caller
    from codemode.model.host import Host
    from codemode.transports.content import Content

#: Maximum number of images and files that are shown of one outcome.
MOST_SHOWN = 8


async def shown_content(
    host: Host, ended: ExecutionOutcome, caller: Caller, *, media_types: Collection[str] | None = None
) -> list[Content]:
    """Return the content that the result refers to, in order, as far as it fits into `content.inline_bytes`.

    `media_types` are the wanted ones, None for all. What does not fit, or is no longer kept, is left out: the result
    has its reference.
    """
    result = ended.result
    if not ended.has_value or (isinstance(result, JsonText) and f'"{REFERENCE_KEY}"'.encode() not in result.data):
        return []
    limit_bytes = host.settings.content.inline_bytes
    shown: list[Content] = []
    for id_ in dict.fromkeys(content_ids(ended.value)):
        if len(shown) == MOST_SHOWN:
            break
        try:
            content = await host.content(id_, caller=caller)
        except ContentNotFound:
            continue
        is_wanted = media_types is None or content.media_type in media_types
        if is_wanted and len(content.data) <= limit_bytes:
            limit_bytes -= len(content.data)
            shown.append(content)
    return shown
