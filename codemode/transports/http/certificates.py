"""Errors for untrusted TLS certificates, with a remedy."""

from __future__ import annotations

import ssl
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

#: OpenSSL codes (X509_V_ERR_…) of errors that another trusted authority would not fix.
_NOT_YET, _EXPIRED, _OTHER_NAME, _OTHER_ADDRESS = 9, 10, 62, 64

#: Remedy for an unknown authority of a source.
OF_A_SOURCE = "set `ca_file: FILE` of the source to its authority's certificate, or add it to the system's trust store"


def distrusted(error: BaseException, remedy: str = OF_A_SOURCE) -> str:
    """Return why the other side's certificate is not trusted, with a remedy. Return "" for other errors."""
    verification = next((one for one in _causes(error) if isinstance(one, ssl.SSLCertVerificationError)), None)
    if verification is None:
        return ""
    why = verification.verify_message.rstrip(".")
    if verification.verify_code in (_OTHER_NAME, _OTHER_ADDRESS):
        remedy = "use a host name that the certificate covers"
    elif verification.verify_code in (_NOT_YET, _EXPIRED):
        remedy = "renew the certificate, or correct the clock"
    return f"its TLS certificate is not trusted: {why}; {remedy}"


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error, the errors that it groups, and its causes."""
    while error is not None:
        yield error
        if isinstance(error, BaseExceptionGroup):
            for one in error.exceptions:
                yield from _causes(one)
        error = error.__cause__ or error.__context__
