from __future__ import annotations

import pytest

from sandbox.errors import SandboxUnavailable
from sandbox.host.layers import REMEDIES, _judge, refuse_missing
from sandbox.isolation.probe import LAYERS

GOOD = dict.fromkeys(LAYERS, "in force")


def test_every_layer_that_is_probed_can_be_required_and_has_a_remedy() -> None:
    assert set(REMEDIES) == set(LAYERS)
    refuse_missing(GOOD, LAYERS)


def test_a_missing_required_layer_is_refused_with_the_finding_and_the_way_out() -> None:
    found = {**GOOD, "landlock": "not there: Function not implemented", "seccomp": "possible: open a file"}
    with pytest.raises(SandboxUnavailable) as caught:
        refuse_missing(found, ("seccomp", "landlock", "rlimits"))
    message = str(caught.value)
    assert "seccomp: possible: open a file. the kernel needs CONFIG_SECCOMP_FILTER" in message
    assert "landlock: not there: Function not implemented. the kernel needs 5.13 or newer" in message
    assert "rlimits" not in message


def test_a_layer_that_was_not_probed_is_not_in_force() -> None:
    with pytest.raises(SandboxUnavailable, match="user: not probed"):
        refuse_missing({}, ("user",))


def test_an_unknown_layer_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="there is no layer 'landlok'; known are seccomp"):
        refuse_missing(GOOD, ("landlok",))


def test_a_layer_that_was_not_taken_does_not_count_although_the_attempt_failed() -> None:
    assert _judge("in force", "taken") == "in force"
    assert _judge("in force", "OSError: no") == "not taken: OSError: no"
    assert _judge("possible: become root", "OSError: no") == "possible: become root (OSError: no)"
    assert _judge("possible: become root", "taken") == "possible: become root"
