"""Messages to the guest."""

from __future__ import annotations

import json

from sandbox.protocol.host_messages import encode_program


def test_names_are_sent_as_roots_parameters_and_values() -> None:
    sent = json.loads(
        b"{%s}" % encode_program("1", {"gym.core.get", "search(query, limit)", "last=load", "load(name)"})
    )
    assert sent["code"] == "1"
    assert sorted(sent["names"]) == ["gym", "load", "search"]
    assert sent["parameters"] == {"load": ["name"], "search": ["query", "limit"]}
    assert sent["values"] == {"last": "load"}
