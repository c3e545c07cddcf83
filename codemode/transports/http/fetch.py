"""Source documents over HTTP, fetched from the operator's address and no other host."""

from __future__ import annotations

import asyncio
import re
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from codemode.errors import CallError, ConfigurationError, SourceError, UpstreamUnreachable
from codemode.transports.auth.credentials import Credential
from codemode.transports.http.addresses import PermittedOrigins, origin, upgraded, without_userinfo
from codemode.transports.http.exchange import Exchange, Redirected
from codemode.transports.http.network import open_pool, resolve
from codemode.transports.http.request import HttpRequest
from codemode.transports.redaction import Redactor

if TYPE_CHECKING:
    from collections.abc import Iterable

    from codemode.transports.http.exchange import Answer
    from codemode.transports.http.network import Resolve

#: The largest published document, Microsoft Graph's beta, has 47 MB.
LARGEST_DOCUMENT_BYTES = 128 * 1024 * 1024

_ACCEPT = ("Accept", "application/json, application/yaml, */*")


#: Statuses of documents that may need credentials. Some services hide such documents.
_UNSIGNED = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN, HTTPStatus.NOT_FOUND)

#: Patterns in the address of a login page.
_LOGIN = re.compile(r"log[_-]?in|sign[_-]?in|\bsso\b|oauth|openid|saml|\bidp\b|authori[sz]e|\bauth\b", re.IGNORECASE)

#: A password field, which only login pages have.
_PASSWORD = re.compile(rb"<input[^<>]+type\s*=\s*[\"']?password", re.IGNORECASE)


class BehindLogin(SourceError):
    """The service gives the document only to authenticated clients."""


async def fetch_text(
    url: str,
    *,
    credentials: Iterable[Credential] = (),
    timeout_s: float = 30.0,
    limit_bytes: int = LARGEST_DOCUMENT_BYTES,
    address: str | None = None,
    certificate: tuple[str, str] | None = None,
    ca_file: str | None = None,
    resolve: Resolve = resolve,
) -> str:
    """Return the text at a URL, using the URL's own user name and password. Raises SourceError with the reason.

    BehindLogin means that the service may give the document with other `credentials`, which are sent to this origin
    only. Redirects are followed to the same origin, or to https on the same host. `address` is the host's own IP
    address. `certificate` (mutual TLS) and `ca_file` are the operator's.
    """
    target, own = _signed(url)
    sent = (*own, *credentials)
    redactor = Redactor(secret for credential in sent for secret in credential.secrets)
    try:
        asked = origin(target)
        permitted = PermittedOrigins((asked, upgraded(asked)), address)
        exchange = Exchange(
            "the server",
            timeout_s=timeout_s,
            limit_bytes=limit_bytes,
            connections=open_pool(permitted, most=1, certificate=certificate, ca_file=ca_file, resolve=resolve),
            may_upgrade=True,
        )
        try:
            async with asyncio.timeout(timeout_s):
                answer = await exchange.send(HttpRequest("GET", target.partition("#")[0], (_ACCEPT,)), sent)
        finally:
            await exchange.aclose()
    except TimeoutError:
        message = f"did not answer within {timeout_s:g} s"
        raise SourceError(message, location=url) from None
    except Redirected as error:
        raise _redirected(error, url, is_signed=bool(sent)) from None
    except (CallError, ConfigurationError) as error:
        message = f"cannot be fetched: {redactor.text(str(error)).removesuffix('; nothing was sent')}"
        reason = "its server cannot be reached" if isinstance(error, UpstreamUnreachable) else error.for_model()
        raise SourceError(message, location=url, told=f"its document cannot be fetched: {reason}") from None
    return _text(answer, url, is_signed=bool(sent))


def _text(answer: Answer, url: str, *, is_signed: bool) -> str:
    if answer.status != HTTPStatus.OK:
        refused = "; this source's credentials were sent" if is_signed else ""
        kind = BehindLogin if answer.status in _UNSIGNED else SourceError
        message = f"answered {answer.status}{refused}"
        told = f"its document cannot be fetched: its server answered {answer.status}"
        raise kind(message, location=url, told=told)
    is_login = _PASSWORD.search(answer.body) or _LOGIN.search(urlsplit(answer.url).path)
    if answer.headers.get("content-type", "").startswith("text/html") and is_login:
        message = f"answered with a login page: {_login(is_signed=is_signed)}"
        raise BehindLogin(message, location=url, told=_TOLD)
    return answer.body.decode("utf-8-sig", "replace")


_TOLD = "its document is behind a login"


def _redirected(error: Redirected, url: str, *, is_signed: bool) -> SourceError:
    """Return the error for a redirect to another host, which usually has a login page."""
    parts = urlsplit(error.target)
    page = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"
    if _LOGIN.search(f"{parts.netloc}{parts.path}?{parts.query}"):
        message = f"redirects to a login page, {page}: {_login(is_signed=is_signed)}"
        return BehindLogin(message, location=url, told=_TOLD)
    message = f"cannot be fetched: it redirects to {page}, another host, which is never followed"
    return BehindLogin(message, location=url, told="its document cannot be fetched: it redirects to another host")


def _login(*, is_signed: bool) -> str:
    if is_signed:
        return "the document is behind a login that rejects this source's credentials"
    return "the document is behind a login; set the source's `credentials`, or save the document to a file"


def _signed(url: str) -> tuple[str, tuple[Credential, ...]]:
    """Split a URL into the URL without user name and password, and a credential made of them."""
    try:
        parts = urlsplit(url)
        name, password = parts.username, parts.password
    except ValueError:
        return url, ()
    if name is None:
        return url, ()
    return without_userinfo(url), (Credential.basic(unquote(name), unquote(password or "")),)
