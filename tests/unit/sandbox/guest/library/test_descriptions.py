"""A tool tells its name and its description."""

from __future__ import annotations

from typing import Any

import pytest

from sandbox.errors import CallFailed
from tests.unit.sandbox.guest.host_double import run_guest

_DESCRIPTION = (
    'ns.users.find(*, name: str, sort: Literal["a", "-a"] = "a", limit: int | None = None) -> Page\n'
    "  Find users\n  effect: read"
)
_NAMES = ("ns", "describe(name)")


def _describe(name: str) -> str:
    if name == "ns.users.find":
        return _DESCRIPTION
    if name == "ns":
        return "ns.users.find(*, name: str) -> Page  # Find users"
    message = f"there is no tool {name!r}; nearest: ns.users.find"
    raise CallFailed(message, kind="tool_not_found")


_TOOLS: dict[str, Any] = {"describe": _describe, "ns.users.find": lambda **arguments: arguments}


@pytest.mark.parametrize(
    ("code", "value"),
    [
        ("ns.users.find.__name__", "find"),
        ("ns.users.find.__qualname__", "ns.users.find"),
        ("ns.users.find.__doc__", _DESCRIPTION),
        ("getattr(ns.users.find, '__name__')", "find"),
        ("import inspect\ninspect.getdoc(ns.users.find).split('\\n')[1].strip()", "Find users"),
        ("import asyncio\nasync def f(): return ns.users.find.__doc__\nawait f()", _DESCRIPTION),
    ],
)
def test_a_tool_says_what_it_is(code: str, value: Any) -> None:
    ended = run_guest(code, _TOOLS, names=_NAMES)

    assert (ended.status, ended.value) == ("completed", value), ended.message


@pytest.mark.parametrize(
    ("code", "output"),
    [
        ("help(ns.users.find)", _DESCRIPTION + "\n"),
        ("help('ns.users.find')", _DESCRIPTION + "\n"),
        ("help(ns)", "ns.users.find(*, name: str) -> Page  # Find users\n"),
        ("def f(x, y=1):\n    'Adds.'\nhelp(f)", "f(x, y=1)\nAdds.\n"),
        ("print(ns.users.find)", "<tool ns.users.find: help(ns.users.find) says what it takes>\n"),
    ],
)
def test_help_and_print_are_of_use(code: str, output: str) -> None:
    ended = run_guest(code, _TOOLS, names=_NAMES)

    assert (ended.status, ended.output) == ("completed", output), ended.message


def test_a_wrong_name_is_told_what_is_near() -> None:
    ended = run_guest("help(ns.find)", _TOOLS, names=_NAMES)

    assert ended.status == "failed"
    assert "nearest: ns.users.find" in ended.message


def test_where_nothing_is_described_a_tool_has_a_name_alone() -> None:
    ended = run_guest("help(ns.x)\n[ns.x.__name__, ns.x.__doc__]", {}, names=("ns",))

    assert ended.value == ["x", None]
    assert "ns.x(name=value)" in ended.output


def test_the_signature_of_a_tool_is_a_value_error() -> None:
    ended = run_guest("import inspect\ninspect.signature(ns.x)", {}, names=("ns",))

    assert "ValueError" in ended.failure["type"] if ended.failure else False
    assert "no signature found" in ended.message
