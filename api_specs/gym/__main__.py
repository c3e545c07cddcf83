"""`python -m api_specs.gym --token TOKEN`: serve the gym; one line with the address is printed when it is ready."""

from __future__ import annotations

import argparse
import asyncio
import socket
import sys
from datetime import date, datetime

import uvicorn

from api_specs.gym.app import DEFAULT_CLOCK, create_app


def main() -> None:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(
        prog="python -m api_specs.gym", description="The back office of a gym, with seeded data."
    )
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8137, help="0 picks a free one (default: %(default)s)")
    parser.add_argument("--token", required=True, help="the bearer token that every operation asks for")
    parser.add_argument("--database", default=":memory:", help="a file to keep the data in (default: memory)")
    parser.add_argument("--clock", type=_moment, default=DEFAULT_CLOCK, help="the moment at which the gym stands")
    options = parser.parse_args()
    app = create_app(options.database, token=options.token, clock=options.clock)
    family = socket.AF_INET6 if ":" in options.host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:  # named: asyncio sets TCP_NODELAY
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((options.host, options.port))
        listener.listen(256)
        host = f"[{options.host}]" if ":" in options.host else options.host
        server = _Announced(uvicorn.Config(app, log_level="warning"), f"http://{host}:{listener.getsockname()[1]}")
        asyncio.run(server.serve([listener]))


def _moment(text: str) -> date | datetime:
    return date.fromisoformat(text) if len(text) == len("2026-03-02") else datetime.fromisoformat(text)


class _Announced(uvicorn.Server):
    """A server that says where it is once it accepts requests."""

    def __init__(self, config: uvicorn.Config, url: str) -> None:
        super().__init__(config)
        self._url = url

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        sys.stdout.write(f"READY {self._url}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
