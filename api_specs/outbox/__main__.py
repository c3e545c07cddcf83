"""`python -m api_specs.outbox --token TOKEN`: serve the outbox, and print its address when it is ready."""

from __future__ import annotations

import argparse
import sys

import yaml

from api_specs.outbox.app import create_app
from api_specs.serving import serve


def main() -> None:
    """Serve until interrupted, or print the document."""
    parser = argparse.ArgumentParser(
        prog="python -m api_specs.outbox", description="Mail and text messages with templates and a delivery log."
    )
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8138, help="0 picks a free one (default: %(default)s)")
    parser.add_argument("--database", default=":memory:", help="a file to keep the data in (default: memory)")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--token", help="the bearer token that every operation requires")
    what.add_argument("--document", action="store_true", help="print the OpenAPI document and exit")
    options = parser.parse_args()
    app = create_app(options.database, token=options.token or "")
    if options.document:
        yaml.safe_dump(app.openapi(), sys.stdout, sort_keys=False, allow_unicode=True, width=120)
    else:
        serve(app, options.host, options.port)


if __name__ == "__main__":
    main()
