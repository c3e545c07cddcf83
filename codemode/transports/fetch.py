"""Documents over HTTP: fetched once, from the address the operator wrote and no other host."""

from __future__ import annotations

import httpx2

from codemode.errors import ConfigurationError, SourceError
from codemode.transports.addresses import origin

#: The largest published document, Microsoft Graph's beta, has 47 MB.
LARGEST_DOCUMENT_BYTES = 128 * 1024 * 1024

_MOST_REDIRECTS = 5


async def fetch_text(url: str, *, timeout_s: float = 30.0, limit_bytes: int = LARGEST_DOCUMENT_BYTES) -> str:
    """The text at a URL. Raises SourceError that says why it could not be had."""
    timeout = httpx2.Timeout(timeout_s)
    async with httpx2.AsyncClient(timeout=timeout, trust_env=False, follow_redirects=False) as client:
        target = url
        for _ in range(_MOST_REDIRECTS):
            try:
                text, following = await _get(client, target, limit_bytes)
            except httpx2.TimeoutException:
                message = f"did not answer within {timeout_s:g} s"
                raise SourceError(message, location=url) from None
            except (httpx2.HTTPError, httpx2.InvalidURL) as error:
                message = f"cannot be fetched: {str(error) or type(error).__name__}"
                raise SourceError(message, location=url) from None
            if following is None:
                return text
            if not _is_allowed(url, following):
                message = f"redirects to another host ({following}): name that address if you trust it"
                raise SourceError(message, location=url)
            target = following
    raise SourceError("redirects without end", location=url)


async def _get(client: httpx2.AsyncClient, url: str, limit_bytes: int) -> tuple[str, str | None]:
    async with client.stream("GET", url, headers={"Accept": "application/json, application/yaml, */*"}) as response:
        if response.has_redirect_location:
            return "", str(response.url.join(response.headers["location"]))
        if response.status_code != 200:
            message = f"answered {response.status_code} {response.reason_phrase}".strip()
            raise SourceError(message, location=url)
        chunks = []
        size = 0
        async for chunk in response.aiter_bytes():
            size += len(chunk)
            if size > limit_bytes:
                message = f"is larger than {limit_bytes:,} bytes"
                raise SourceError(message, location=url)
            chunks.append(chunk)
    return b"".join(chunks).decode("utf-8-sig", "replace"), None


def _is_allowed(asked: str, following: str) -> bool:
    try:
        return origin(asked)[1:2] == origin(following)[1:2] and following.startswith(
            ("https://", asked.partition(":")[0])
        )
    except ConfigurationError:
        return False
