"""Certificates of TLS that are not trusted, named as such, with what to do."""

from __future__ import annotations

import ssl
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Codes of OpenSSL (X509_V_ERR_…) for what another authority in the trust store does not help against.
_NOT_YET, _EXPIRED, _OTHER_NAME, _OTHER_ADDRESS = 9, 10, 62, 64

#: What to do where the authority of a source is not known.
OF_A_SOURCE = "write the file of its authority under the source, `ca_file: FILE`, or add it to those of the system"


def distrusted(error: BaseException, remedy: str = OF_A_SOURCE) -> str:
    """Why the certificate of the other side is not trusted, and what to do; "" where it is about something else."""
    found = next((one for one in _causes(error) if isinstance(one, ssl.SSLCertVerificationError)), None)
    if found is None:
        return ""
    why = found.verify_message.rstrip(".")
    if found.verify_code in (_OTHER_NAME, _OTHER_ADDRESS):
        remedy = "write the address by a name that the certificate has"
    elif found.verify_code in (_NOT_YET, _EXPIRED):
        remedy = "it needs a new one, or a clock is wrong"
    return f"its TLS certificate is not trusted: {why}; {remedy}"


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """An error, what is in it, and what it came of."""
    while error is not None:
        yield error
        if isinstance(error, BaseExceptionGroup):
            for one in error.exceptions:
                yield from _causes(one)
        error = error.__cause__ or error.__context__
