"""Keys by name, explained in words."""

from __future__ import annotations

import pytest

from codemode.errors import ConfigurationError
from codemode.settings.keys import below, find


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("sources.*.timeout_s", "sources.*.timeout_s"),
        ("sources.gym.timeout_s", "sources.*.timeout_s"),
        ("policy.rules.0.decision", "policy.rules.*.decision"),
        ("policy.rules[0].decision", "policy.rules.*.decision"),
        ("sources.gym", "sources"),
        ("sources.gym.rename.freeze", "sources.*.rename"),
        ("server.keys.*.env", "server.keys.*.env"),
    ],
)
def test_a_key_is_found_with_any_name_in_it(name: str, found: str) -> None:
    assert [key.name for key in find(name)] == [found]


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("journal.leese_s", "did you mean 'journal.lease_s'?"),
        ("timeout_s", "did you mean agent.timeout_s, notify.timeout_s, sources.*.timeout_s"),
        ("nonsense", "`codemode config schema` prints all keys"),
        ("zzz", "`codemode config schema` prints all keys"),
        ("journal.*", "unknown key 'journal.*'"),
    ],
)
def test_an_unknown_key_is_rejected_with_the_closest_ones(name: str, near: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        find(name)
    assert str(caught.value).startswith(f"unknown key {name!r}")
    assert near in str(caught.value)


@pytest.mark.parametrize(
    ("name", "type_", "default", "valid"),
    [
        ("journal.lease_s", "number", "15", "at least 1, at most 3600"),
        ("limits.wall_s", "number", "30", "more than 0, at most 3600"),
        ("journal.durability", "text", '"process"', "process, power"),
        ("journal.key", "mapping or null", "null", ""),
        ("menu.router", "mapping or text", "", "none, auto, list, lexical, embedding, model"),
        ("policy.rules.*.decision", "text", "none, the key is required", "allow, deny, ask"),
        (
            "sandbox.require",
            "list of text",
            '["seccomp", "rlimits", "fork_server"]',
            "seccomp, rlimits, fork_server, landlock, namespaces",
        ),
        ("pins", "list of text", "[]", "at most 8 items"),
    ],
)
def test_a_key_is_explained(name: str, type_: str, default: str, valid: str) -> None:
    (key,) = find(name)
    assert (key.type, key.default, key.valid) == (type_, default, valid)


def test_members_of_a_union_are_explained_one_by_one() -> None:
    kinds = [key.valid for key in find("sources.gym.credentials.0.kind")]
    assert kinds == ["bearer", "basic", "api_key", "oauth2", "aws", "none"]


def test_a_section_has_its_keys_and_an_example() -> None:
    (history,) = find("menu.history")
    assert below(history) == ["human_messages", "messages_scanned", "decay"]
    assert history.example == {"human_messages": 4, "messages_scanned": 8, "decay": 1}
    (sources,) = find("sources")
    assert below(sources)[:2] == ["kind", "location"]
