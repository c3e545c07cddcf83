"""Documents over HTTP: fetched once, from the address the operator wrote and no other host."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from codemode.errors import CallError, ConfigurationError, SourceError
from codemode.transports.addresses import Permitted, origin, upgraded, without_userinfo
from codemode.transports.credentials import Credential
from codemode.transports.exchange import Exchange
from codemode.transports.network import open_pool, resolve
from codemode.transports.redaction import Redactor
from codemode.transports.request import HttpRequest

if TYPE_CHECKING:
    from codemode.transports.network import Resolve

#: The largest published document, Microsoft Graph's beta, has 47 MB.
LARGEST_DOCUMENT_BYTES = 128 * 1024 * 1024

_ACCEPT = ("Accept", "application/json, application/yaml, */*")


async def fetch_text(
    url: str,
    *,
    timeout_s: float = 30.0,
    limit_bytes: int = LARGEST_DOCUMENT_BYTES,
    address: str | None = None,
    certificate: tuple[str, str] | None = None,
    ca_file: str | None = None,
    resolve: Resolve = resolve,
) -> str:
    """The text at a URL, with its user name and password where it has any. Raises SourceError that says why not.

    A redirect is followed to the same origin, or to the same host's https. `address` is the host's own IP address;
    `certificate` (mutual TLS) and `ca_file` are the operator's.
    """
    target, credentials = _signed(url)
    redactor = Redactor(secret for credential in credentials for secret in credential.secrets)
    try:
        asked = origin(target)
        permitted = Permitted((asked, upgraded(asked)), address)
        exchange = Exchange(
            "the server",
            timeout_s=timeout_s,
            limit_bytes=limit_bytes,
            connections=open_pool(permitted, most=1, certificate=certificate, ca_file=ca_file, resolve=resolve),
            may_upgrade=True,
        )
        try:
            async with asyncio.timeout(timeout_s):
                answer = await exchange.send(HttpRequest("GET", target.partition("#")[0], (_ACCEPT,)), credentials)
        finally:
            await exchange.aclose()
    except TimeoutError:
        message = f"did not answer within {timeout_s:g} s"
        raise SourceError(message, location=url) from None
    except (CallError, ConfigurationError) as error:
        message = f"cannot be fetched: {redactor.text(str(error))}"
        raise SourceError(message, location=url) from None
    if answer.status != 200:
        message = f"answered {answer.status}"
        raise SourceError(message, location=url)
    return answer.body.decode("utf-8-sig", "replace")


def _signed(url: str) -> tuple[str, tuple[Credential, ...]]:
    """A URL without user name and password, and these as a credential."""
    try:
        parts = urlsplit(url)
        name, password = parts.username, parts.password
    except ValueError:
        return url, ()
    if name is None:
        return url, ()
    return without_userinfo(url), (Credential.basic(unquote(name), unquote(password or "")),)
