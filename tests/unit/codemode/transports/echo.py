"""A service that echoes each request in every part of its answer."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING
from urllib.parse import quote

from tests.unit.codemode.transports.recorder import Answered

if TYPE_CHECKING:
    from tests.unit.codemode.transports.recorder import Received


def echo(received: Received) -> Answered:
    """Return the request, plain and encoded. `/redirect`, `/refused`, `/broken` … answer as their names say."""
    sent = [received.target, *received.headers.values()]
    texts = [way for text in sent for way in (text, quote(text), base64.b64encode(text.encode()).decode())]
    body = json.dumps({"detail": " ".join(texts), "texts": texts}).encode()
    shown = {"Content-Type": "application/json", "X-Echo": received.headers.get("Authorization", "-")}
    match received.target.partition("?")[0]:
        case "/refused":
            return Answered(403, {**shown, "Content-Type": "application/problem+json"}, body)
        case "/redirect":
            return Answered(302, {**shown, "Location": f"/refused{received.target.removeprefix('/redirect')}"}, b"")
        case "/elsewhere":
            return Answered(302, {**shown, "Location": f"http://127.0.0.9/{received.target}"}, b"")
        case "/not_json":
            return Answered(200, shown, b"<" + body)
        case "/text":
            return Answered(500, {"Content-Type": "text/html"}, b"<h1>" + body + b"</h1>")
        case "/cut":
            return Answered(200, shown, body, cut=True)
        case _:
            return Answered(200, shown, body)
