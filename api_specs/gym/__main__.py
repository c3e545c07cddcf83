"""`python -m api_specs.gym --token TOKEN`: serve the gym, and print its address when it is ready."""

from __future__ import annotations

import argparse
from datetime import date, datetime

from api_specs.gym.app import DEFAULT_CLOCK, create_app
from api_specs.serving import serve


def main() -> None:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(
        prog="python -m api_specs.gym", description="The back office of a gym, with seeded data."
    )
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8137, help="0 picks a free one (default: %(default)s)")
    parser.add_argument("--token", required=True, help="the bearer token that every operation requires")
    parser.add_argument("--database", default=":memory:", help="a file to keep the data in (default: memory)")
    parser.add_argument("--clock", type=_moment, default=DEFAULT_CLOCK, help="the fixed current time of the gym")
    options = parser.parse_args()
    app = create_app(options.database, token=options.token, clock=options.clock)
    serve(app, options.host, options.port)


def _moment(text: str) -> date | datetime:
    return date.fromisoformat(text) if len(text) == len("2026-03-02") else datetime.fromisoformat(text)


if __name__ == "__main__":
    main()
