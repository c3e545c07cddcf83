"""HAProxy in front of the servers. A request is tried again on another server only where it cannot run twice."""

from __future__ import annotations

import asyncio
import csv
from collections import Counter
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from tests.nightly.chaos import network
from tests.nightly.chaos.servers import PORT

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from pathlib import Path

    from tests.nightly.chaos.servers import Server

ADDRESS, LISTENING = network.BALANCER, 8000

_CONFIGURATION = """
global
  stats socket {socket}
  tune.bufsize 65536

defaults
  mode http
  option http-server-close
  timeout connect 1s
  timeout queue 5s
  timeout client 60s
  timeout server 60s

frontend clients
  bind {address}:{port}
  default_backend codemode

backend codemode
  balance leastconn
  option httpchk
  http-check send meth GET uri /readyz ver HTTP/1.1 hdr Host codemode
  http-check expect status 200
  timeout check 1s
  default-server check inter 500ms fall 2 rise 1 source {address}
  retries 3
  option redispatch 1
  retry-on conn-failure empty-response 503
  http-request disable-l7-retry unless {{ method GET HEAD OPTIONS }} or {{ req.hdr(Idempotency-Key) -m found }}
{servers}
"""


class Balancer:
    """A running HAProxy."""

    def __init__(self, socket: Path) -> None:
        self._socket = socket

    async def counts(self) -> Counter[str]:
        """Return its counters over all servers: `wretr`, `wredis`, `hrsp_5xx` … (HAProxy Management Guide, 9.1)."""
        reader, writer = await asyncio.open_unix_connection(str(self._socket))
        writer.write(b"show stat\n")
        rows = (await reader.read()).decode().removeprefix("# ").splitlines()
        writer.close()
        found: Counter[str] = Counter()
        for row in csv.DictReader(rows):
            if row["svname"] in ("FRONTEND", "BACKEND"):
                found.update(
                    {f"{row['svname']} {name}": int(row[name] or 0) for name in ("hrsp_5xx", "wretr", "wredis")}
                )
        return found


@asynccontextmanager
async def balancer(folder: Path, servers: Sequence[Server]) -> AsyncIterator[Balancer]:
    """Yield a balancer of these servers."""
    lines = "\n".join(f"  server {one.name} {one.address}:{PORT}" for one in servers)
    socket, file = folder / "haproxy.sock", folder / "haproxy.cfg"
    text = _CONFIGURATION.format(socket=socket, address=ADDRESS, port=LISTENING, servers=lines)
    file.write_text(text, encoding="utf-8")
    with (folder / "haproxy.log").open("ab") as log:
        process = await asyncio.create_subprocess_exec(
            "haproxy", "-db", "-f", str(file), stdout=log, stderr=log, start_new_session=True
        )
    try:
        while not socket.exists():
            assert process.returncode is None, (folder / "haproxy.log").read_text()
            await asyncio.sleep(0.02)
        yield Balancer(socket)
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
