"""The client for blocking libraries: which addresses it calls, over real sockets."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

import httpx2
import pytest

from codemode.errors import AddressNotAllowed, ConfigurationError
from codemode.transports.http.blocking import blocking_client

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def server(host: str = "127.0.0.1", location: str = "") -> Iterator[tuple[int, list[str]]]:
    """Yield the server's port and the Host headers that it receives. With a `location`, it redirects every request."""
    hosts: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            hosts.append(self.headers["Host"])
            self.send_response(302 if location else 200)
            if location:
                self.send_header("Location", location)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Log nothing."""

    running = ThreadingHTTPServer((host, 0), Handler)
    thread = threading.Thread(target=running.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield running.server_port, hosts
    finally:
        running.shutdown()
        running.server_close()
        thread.join()


def status(base_url: str, *found: str, url: str = "") -> int:
    with blocking_client(base_url, timeout_s=5, resolve=lambda _host, _port: found) as client:
        return client.get(url or base_url).status_code


def test_what_the_operator_wrote_is_asked() -> None:
    with server() as (port, hosts):
        assert status(f"http://127.0.0.1:{port}/v1") == 200
        assert status(f"http://localhost:{port}/v1", "127.0.0.1") == 200
    assert hosts == [f"127.0.0.1:{port}", f"localhost:{port}"]


def test_the_next_address_of_a_name_is_tried() -> None:
    with server() as (port, _):
        assert status(f"http://localhost:{port}/", "127.0.0.77", "127.0.0.1") == 200


@pytest.mark.parametrize("address", ["127.0.0.1", "169.254.169.254", "fe80::1", "::ffff:127.0.0.1", "0.0.0.0"])  # noqa: S104
def test_a_name_that_leads_to_this_machine_or_to_metadata_is_not(address: str) -> None:
    with server() as (port, hosts), pytest.raises(AddressNotAllowed, match="which the configuration does not allow"):
        status(f"http://vectors.example:{port}/", address)
    assert hosts == []


def test_another_host_or_port_is_not_asked_and_no_redirect_is_followed() -> None:
    with server() as (port, hosts):
        with pytest.raises(AddressNotAllowed):
            status("http://127.0.0.1:1/", url=f"http://127.0.0.1:{port}/")
        with server(location=f"http://127.0.0.1:{port}/") as (first, _):
            assert status(f"http://127.0.0.1:{first}/") == 302
    assert hosts == []


def test_a_name_that_is_not_known_and_an_address_that_is_none_are_said() -> None:
    def unknown(_host: str, _port: int) -> tuple[str, ...]:
        raise OSError(-2, "Name or service not known")

    client = blocking_client("http://vectors.example/", timeout_s=5, resolve=unknown)
    with client, pytest.raises(httpx2.ConnectError, match=r"the name vectors\.example cannot be resolved"):
        client.get("http://vectors.example/")
    with pytest.raises(ConfigurationError):
        blocking_client("http://2130706433/", timeout_s=5)
