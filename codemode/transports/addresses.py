"""Where a call may go: what the operator wrote is the permission, what a document suggests must match it."""

from __future__ import annotations

from urllib.parse import urljoin, urlsplit

from codemode.errors import AddressNotAllowed, ConfigurationError

_PORTS = {"http": 80, "https": 443}


def origin(url: str) -> tuple[str, str, int]:
    """Scheme, host and port of an absolute URL. Raises ConfigurationError for anything else."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    if parts.scheme not in _PORTS or not parts.hostname:
        message = f"{url!r} is no http or https address"
        raise ConfigurationError(message)
    return parts.scheme, parts.hostname, port or _PORTS[parts.scheme]


def checked_base(url: str) -> str:
    """A base URL as the operator wrote it, without its last slash. Raises ConfigurationError."""
    origin(url)
    parts = urlsplit(url)
    if parts.query or parts.fragment or parts.username or parts.password:
        message = f"base_url {url!r}: give scheme, host, port and path only (credentials have their own key)"
        raise ConfigurationError(message)
    return url.rstrip("/")


def base_for(
    suggested: tuple[str, ...], *, common: tuple[str, ...], configured: str | None, location: str, source: str
) -> str:
    """The base URL of an operation. Raises AddressNotAllowed.

    `suggested` are the document's servers for this operation, `common` those for the whole document; `configured` is
    the operator's base URL, `location` where the document came from.
    """
    if configured is None:
        return _beside_document(suggested, location, source)
    overrides = suggested != common
    same = [url for url in suggested if _same_origin(url, configured)]
    if same and (overrides or not urlsplit(configured).path):
        return same[0].rstrip("/")
    if not overrides:
        return configured
    if any(_same_origin(url, configured) for url in common) and any(urlsplit(url).netloc for url in suggested):
        message = f"{source}: this operation is at {suggested[0]}, which is not under base_url {configured}"
        raise AddressNotAllowed(message)
    return _moved(configured, common, suggested)


def _beside_document(suggested: tuple[str, ...], location: str, source: str) -> str:
    """Without a base URL: only the origin that the operator named as the document's own."""
    if location.lower().startswith(("http://", "https://")):
        for url in suggested or ("/",):
            absolute = urljoin(location, url)
            if _same_origin(absolute, location):
                return absolute.rstrip("/")
    named = [url for url in suggested if urlsplit(url).netloc]
    hint = f"write base_url: {named[0]} if you trust it" if named else "write its base_url"
    message = f"{source} has no base_url in the configuration; {hint}"
    raise AddressNotAllowed(message)


def _same_origin(left: str, right: str) -> bool:
    try:
        return origin(left) == origin(right)
    except ConfigurationError:
        return False


def _moved(configured: str, common: tuple[str, ...], suggested: tuple[str, ...]) -> str:
    """`…/v4` becomes `…/v4beta` where the document moves an operation so, at the operator's own address."""
    if not common or not suggested:
        return configured
    usual, own = (urlsplit(urls[0]).path.rstrip("/") for urls in (common, suggested))
    if usual and configured.endswith(usual):
        return configured[: -len(usual)] + own
    return configured
