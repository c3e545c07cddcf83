"""The client metadata document of codemode: its https address is the identifier of a client (CIMD).

https://datatracker.ietf.org/doc/draft-ietf-oauth-client-id-metadata-document/
"""

from __future__ import annotations

from typing import Any

#: Where a server with a public address publishes the document.
PATH = "/oauth/client.json"

#: The port of the redirect address that the document names, for issuers that compare ports (against RFC 8252, 7.3).
REDIRECT_PORT = 8400

#: The path of redirect addresses of this machine, and of the one of a server with a public address.
CALLBACK = "/callback"
CONSOLE_CALLBACK = "/console/accounts/callback"

GRANTS = ("authorization_code", "refresh_token")
DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code"


def client_address(public_url: str) -> str:
    """Return the address of the document of a server, empty if its public address is not https."""
    return public_url.rstrip("/") + PATH if public_url.startswith("https://") else ""


def client_document(public_url: str) -> dict[str, Any]:
    """Return the document of the server at a public address: a public client, for logins here and there."""
    return {
        "client_id": client_address(public_url),
        "client_name": "codemode",
        "client_uri": public_url,
        "redirect_uris": [
            f"http://127.0.0.1{CALLBACK}",
            f"http://127.0.0.1:{REDIRECT_PORT}{CALLBACK}",
            public_url.rstrip("/") + CONSOLE_CALLBACK,
        ],
        "grant_types": [*GRANTS, DEVICE_GRANT],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
    }
