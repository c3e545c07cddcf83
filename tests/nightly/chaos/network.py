"""The network: a namespace for each server, and a bridge with an address for each of its peers.

A cut drops packets without an answer, as a broken switch does: the server's neighbour entry of the peer gets a hardware
address that nobody has. Packets in the other direction still arrive, but none of them is acknowledged.
"""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

NETWORK = "10.77.0.0/24"
DATABASE, UPSTREAM, BALANCER = PEERS = ("10.77.0.1", "10.77.0.2", "10.77.0.3")

_NOBODY = "02:00:00:00:00:ff"


def build(servers: Sequence[str]) -> None:
    """Make the bridge, and a namespace for each server."""
    _ip("link", "set", "lo", "up")
    _ip("link", "add", "peers", "type", "bridge")
    for peer in PEERS:
        _ip("address", "add", f"{peer}/24", "dev", "peers")
    _ip("link", "set", "peers", "up")
    for name in servers:
        _ip("netns", "add", name)
        _ip("link", "add", name, "type", "veth", "peer", "name", "eth0", "netns", name)
        _ip("link", "set", name, "master", "peers", "up")
        _ip("-n", name, "address", "add", f"{address(name)}/24", "dev", "eth0")
        _ip("-n", name, "link", "set", "eth0", "up")
        _ip("-n", name, "link", "set", "lo", "up")


def address(server: str) -> str:
    """Return the address of a server: that of `s1` ends with 11."""
    return f"10.77.0.1{server[1:]}"


def inside(server: str) -> list[str]:
    """Return the words before a command that runs in a server's network."""
    return ["ip", "netns", "exec", server]


def cut(server: str, peers: Sequence[str]) -> None:
    """Drop what a server sends to these peers."""
    for peer in peers:
        _ip("-n", server, "neighbour", "replace", peer, "lladdr", _NOBODY, "dev", "eth0", "nud", "permanent")


def mend(server: str, peers: Sequence[str]) -> None:
    """End a cut."""
    for peer in peers:
        _ip("-n", server, "neighbour", "delete", peer, "dev", "eth0")


def unplug(server: str) -> None:
    """Drop what a server sends and what is sent to it."""
    _ip("link", "set", server, "down")


def plug(server: str) -> None:
    """Connect a server again."""
    _ip("link", "set", server, "up")


def has_unsent(server: str, peer: str) -> bool:
    """Return whether the kernel still sends data of a server, also of one that is dead, to a peer."""
    command = [*inside(server), "ss", "--no-header", "--tcp", "--numeric", "dst", peer]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return any(int(line.split()[2]) for line in listed.splitlines())


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True)
