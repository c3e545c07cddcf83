"""HTTP URLs in the configuration."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field


def is_url(location: str) -> bool:
    """Return whether a location is fetched over HTTP."""
    return location.lower().startswith(("http://", "https://"))


def _checked(url: str) -> str:
    if not is_url(url):
        message = "expected a URL that begins with http:// or https://"
        raise ValueError(message)
    return url


#: A URL that begins with http:// or https://, in any case.
HttpUrl = Annotated[str, Field(json_schema_extra={"pattern": "^[hH][tT][tT][pP][sS]?://"}), AfterValidator(_checked)]
