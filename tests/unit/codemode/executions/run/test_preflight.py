from __future__ import annotations

import pytest

from codemode.catalog.catalog import Catalog
from codemode.executions.run.preflight import check
from codemode.testing import make_tool
from sandbox import CallSite, ProgramRefused, Refusal

CATALOG = Catalog(
    (
        make_tool("gym.clients.get_clients_list", {"name": {"type": "string"}, "limit": {"type": "integer"}}),
        make_tool("gym.memberships.freeze_membership", {"clientId": {"type": "integer"}}, required=("clientId",)),
        make_tool("gym.core.get_gym_info"),
    )
)


class Compared(str):
    """A name that counts its comparisons."""

    __slots__ = ()
    times = 0
    __hash__ = str.__hash__

    def __eq__(self, other: object) -> bool:
        Compared.times += 1
        return str.__eq__(self, other)


def site(name: str, *keywords: str, positional: int = 0, open_ended: bool = False) -> CallSite:
    return CallSite(name, keywords, positional, open_ended, 3, 4)


def refusals(*sites: CallSite) -> tuple[Refusal, ...]:
    with pytest.raises(ProgramRefused) as caught:
        check(sites, CATALOG)
    return caught.value.refusals


def test_calls_that_can_succeed_pass() -> None:
    check(
        [
            site("gym.clients.get_clients_list"),
            site("gym.clients.get_clients_list", "name", "limit"),
            site("gym.memberships.freeze_membership", "clientId"),
            site("gym.memberships.freeze_membership", open_ended=True),
        ],
        CATALOG,
    )


def test_an_unknown_tool_is_refused_with_the_nearest_names() -> None:
    (refusal,) = refusals(site("gym.clients.get_client_list"))
    assert refusal.message == "there is no tool 'gym.clients.get_client_list'"
    assert refusal.hint.startswith("nearest: gym.clients.get_clients_list")
    assert (refusal.line, refusal.column, refusal.rule) == (3, 4, "unknown_tool")


def test_a_group_is_no_tool() -> None:
    (refusal,) = refusals(site("gym.clients"))
    assert refusal.message == "gym.clients is a group of 1 tools, not a tool"
    assert refusal.hint == "for example gym.clients.get_clients_list"


def test_an_unknown_argument_is_refused_with_the_nearest_and_the_valid_ones() -> None:
    (refusal,) = refusals(site("gym.memberships.freeze_membership", "client_id", "clientId"))
    message = "gym.memberships.freeze_membership() has no parameter 'client_id'; did you mean 'clientId'?"
    assert refusal.message == message
    assert refusal.hint == "valid parameters (* = required): clientId*"


def test_a_missing_argument_is_refused() -> None:
    (refusal,) = refusals(site("gym.memberships.freeze_membership"))
    assert refusal.message == "gym.memberships.freeze_membership() is missing 'clientId'"


def test_positional_arguments_are_refused_with_the_keywords() -> None:
    (refusal,) = refusals(site("gym.clients.get_clients_list", positional=1))
    assert refusal.message == "gym.clients.get_clients_list() takes keyword arguments only, not 1 positional"
    assert refusal.hint == "write gym.clients.get_clients_list(name=…, limit=…)"


def test_every_mistake_is_named_at_once() -> None:
    found = refusals(site("gym.nothing"), site("gym.memberships.freeze_membership", "x"))
    assert [refusal.rule for refusal in found] == ["unknown_tool", "unknown_argument", "missing_argument"]


def test_as_many_sites_are_refused_as_anybody_reads() -> None:
    """Among thousands of tools, each search for the nearest name blocks the event loop for milliseconds."""
    assert len(refusals(*(site(f"gym.clients.no_{number}") for number in range(20_000)))) == 50
    assert len(refusals(site("gym.core.get_gym_info", *(f"key{number}" for number in range(20_000))))) == 50


def test_a_keyword_is_not_compared_with_every_parameter() -> None:
    names = [f"p{number}" for number in range(100)]
    catalog = Catalog([make_tool("many.get", {name: {"type": "string"} for name in names})])
    Compared.times = 0
    check([site("many.get", *(Compared(name) for name in names * 10))], catalog)
    assert Compared.times < 5 * len(names * 10)


def test_a_source_with_the_name_of_a_module_says_so() -> None:
    catalog = Catalog((make_tool("calendar.events.list"),))
    with pytest.raises(ProgramRefused) as caught:
        check([site("calendar.monthrange")], catalog)
    (refusal,) = caught.value.refusals
    assert refusal.hint.endswith(
        "calendar is a source here: `import calendar` binds Python's module, and the tools stay at tools.calendar"
    )
