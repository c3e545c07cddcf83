"""Failed logins are counted by address and by network."""

from __future__ import annotations

import pytest

from codemode.serving.console.failures import _network


@pytest.mark.parametrize(
    ("address", "network"),
    [
        ("2001:db8:1:2:aaaa::1", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:ffff:ffff:ffff:ffff", "2001:db8:1:2::/64"),
        ("::5", "::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("192.0.2.77", "192.0.2.0/24"),
        ("::ffff:192.0.2.77", "192.0.2.0/24"),
        ("testclient", "testclient"),
        ("", ""),
    ],
)
def test_the_network_of_an_address(address: str, network: str) -> None:
    assert _network(address) == network
