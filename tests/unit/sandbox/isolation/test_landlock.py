from __future__ import annotations

from sandbox.isolation import landlock


def test_what_an_old_kernel_cannot_deny_is_named() -> None:
    assert landlock.missing(7) == []
    assert landlock.missing(4) == ["ioctl on devices", "abstract sockets and signals"]
    assert landlock.missing(1) == ["truncation of files", "TCP", "ioctl on devices", "abstract sockets and signals"]


def test_every_right_of_each_version_is_handled() -> None:
    rulesets = {abi: list(landlock._ruleset(abi)) for abi in range(1, 8)}
    assert rulesets[1] == [(1 << 13) - 1]
    assert rulesets[3] == [(1 << 15) - 1]
    assert rulesets[4] == [(1 << 15) - 1, 3]
    assert rulesets[7] == [(1 << 16) - 1, 3, 3]
