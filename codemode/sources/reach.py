"""From the configuration of a source to how it is reached over HTTP: its document, and its operations."""

from __future__ import annotations

import asyncio
from functools import partial
from typing import TYPE_CHECKING

from codemode.settings import is_url
from codemode.sources.authentication import authentication_of
from codemode.transports.addresses import origin, without_userinfo
from codemode.transports.fetch import fetch_text
from codemode.transports.http import HttpTransport, Reach

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from codemode.settings import SourceSettings
    from codemode.sources.source import SourceContext
    from codemode.transports.security import Authentication


async def authentication(name: str, settings: SourceSettings, context: SourceContext) -> Authentication:
    """The credentials of a source. Raises ConfigurationError; it may take as long as the commands that print them."""
    return await asyncio.to_thread(authentication_of, name, settings, context.secrets, tokens=context.tokens)


def http_transport(
    name: str,
    settings: SourceSettings,
    context: SourceContext,
    credentials: Authentication,
    *,
    servers: tuple[str, ...] = (),
) -> HttpTransport:
    """What calls the operations of a source, with `servers` that its document suggests. Raises ConfigurationError."""
    reach = Reach(
        source=name,
        base_url=settings.base_url,
        address=settings.address,
        location=settings.location,
        servers=servers,
        timeout_s=settings.timeout_s,
        response_limit_bytes=settings.response_limit_bytes,
        retries=settings.retries,
        concurrency=settings.concurrency,
        rate_per_s=settings.rate_per_s,
        idempotency_header=settings.idempotency_header,
        certificate=_certificate(settings),
        ca_file=_ca_file(settings),
    )
    return HttpTransport(reach, authentication=credentials, contents=context.contents)


def fetch(settings: SourceSettings) -> Callable[[str], Awaitable[str]]:
    """How the document is fetched, where it has a URL: as its operations are called."""
    is_same_host = (
        settings.base_url is None
        or not is_url(settings.location)
        or (origin(settings.base_url).host == origin(without_userinfo(settings.location)).host)
    )
    return partial(
        fetch_text,
        timeout_s=settings.timeout_s,
        address=settings.address if is_same_host else None,
        certificate=_certificate(settings),
        ca_file=_ca_file(settings),
    )


def _certificate(settings: SourceSettings) -> tuple[str, str] | None:
    found = settings.client_certificate
    return None if found is None else (str(found.certificate), str(found.key))


def _ca_file(settings: SourceSettings) -> str | None:
    return None if settings.ca_file is None else str(settings.ca_file)
