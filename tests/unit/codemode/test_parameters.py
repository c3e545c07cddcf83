"""A value of a wrong type is told where it is given, and nothing was done."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from codemode import CodeMode, Settings, SourceError, bind, tool
from codemode.errors import CodeModeError, WrongArgument
from codemode.gateway.caller import Caller
from codemode.serving.agent import Agent

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from codemode.serving.agent import ModelAnswer, ModelRequest

ID = "ex_" + "0" * 32

#: A method of the service, what it is given, and what it says.
OF_SERVICE: list[tuple[str, dict[str, Any], str]] = [
    ("search", {"queries": 3}, "queries: Input should be a valid list"),
    ("search", {"queries": b"x"}, "queries: Input should be a valid list"),
    ("search", {"queries": ["x", None]}, "queries.1: Input should be a valid string"),
    ("search", {"queries": "x", "namespace": 3}, "namespace: Input should be a valid string"),
    ("search", {"queries": "x", "limit": "many"}, "limit: Input should be a valid integer"),
    ("search", {"queries": "x", "offset": 1.5}, "offset: Input should be a valid integer"),
    ("search", {"queries": "x", "detail": "ful"}, "'auto' or 'full', got 'ful'; did you mean 'full'?"),
    (
        "search",
        {"queries": "x", "caller": "ann"},
        "caller must be a Caller, not 'ann' (str); Caller(…) makes one of an id",
    ),
    ("describe", {"name": None}, "name must be a str, not None (NoneType)"),
    ("execute", {"code": None}, "code must be a str, not None (NoneType)"),
    ("execute", {"code": "1", "resume_from": 3}, "resume_from must be a str, not 3 (int)"),
    ("execute", {"code": "1", "fresh_reads": "no"}, "fresh_reads must be True or False, not 'no' (str)"),
    ("execute", {"code": "1", "watch": None}, "watch must be a function, not None (NoneType); leave it out for none"),
    (
        "execute",
        {"code": "1", "credentials": {"X-Token": b"s3cr3t"}},
        "credentials must be a dict of texts by name, not the given value (dict)",
    ),
    ("select_menu", {"message": 3}, "message must be a str, not 3 (int)"),
    ("select_menu", {"message": "x", "history": "y"}, "history must be a list, not 'y' (str); put it into a list"),
]

#: The same of its executions.
OF_EXECUTIONS: list[tuple[str, dict[str, Any], str]] = [
    ("get", {"execution": None}, "execution must be a str, not None (NoneType)"),
    ("wait", {"execution": ID, "timeout_s": "30"}, "timeout_s must be a number of seconds, not '30' (str)"),
    ("list", {"limit": None}, "limit must be an int, not None (NoneType); leave it out for the default"),
    ("list", {"status": "complete"}, "not 'complete' (str); did you mean 'completed'?"),
    ("start", {"request": "1"}, "request must be a Request, not '1' (str); build one with Request(code)"),
    ("events", {"execution": ID, "after": "3"}, "after must be an int, not '3' (str)"),
]


#: The same of a conversation that is offered menus.
OF_MENUS: list[tuple[str, dict[str, Any], str]] = [
    ("offer", {"message": None}, "message must be a str, not None (NoneType)"),
    ("offer", {"message": "x", "history": {"role": "user"}}, "history must be a list, not {'role': 'user'} (dict)"),
    ("offer", {"message": "x", "summary": 3}, "summary must be a str, not 3 (int)"),
    ("handle", {"call": "request_tool"}, "not 'request_tool' (str); a name is given as name="),
    ("handle", {"name": 3}, "name must be a str, not 3 (int)"),
    ("tool", {"name": None}, "name must be a str, not None (NoneType)"),
    ("is_meta", {"name": []}, "name must be a str, not [] (list)"),
]

#: What makes an agent, and what it answers.
OF_AGENT: list[tuple[dict[str, Any], str]] = [
    ({"service": 3}, "service must be a CodeMode, not 3 (int)"),
    ({"settings": {}}, "settings must be an AgentSettings or None, not {} (dict)"),
    ({"settings": Settings()}, "(Settings); pass its agent"),
    ({"model": "gpt"}, "not 'gpt' (str); AgentSettings(model=…) names one"),
    ({"caller": "ann"}, "caller must be a Caller, not 'ann' (str)"),
    (
        {"credentials": {"X-Token": b"s3cr3t"}},
        "credentials must be a dict of texts by name, not the given value (dict)",
    ),
]
HISTORIES: list[tuple[Any, type[Exception], str]] = [
    ("x", WrongArgument, "history must be a list, not 'x' (str); put it into a list"),
    ([3], ValueError, "history: a message is not in chat completion format: 3 (int)"),
    ([{"role": "assistant", "tool_calls": 3}], ValueError, "history: tool_calls is not in chat completion format: 3"),
    ([{"role": "assistant", "tool_calls": [3]}], ValueError, "history: a tool call is not in chat completion format"),
]

#: What is said of a function, and what carries described tools out.
OF_DECORATOR: list[tuple[dict[str, Any], str]] = [
    (
        {"effect": "raed"},
        "effect must be 'read' or 'write' or 'destructive' or None, not 'raed' (str); did you mean 'read'?",
    ),
    ({"tags": "orders"}, "tags must be a list of texts, not 'orders' (str); put it into a list"),
    ({"examples": None}, "examples must be a list of texts, not None (NoneType); leave it out for none"),
    ({"revert": 3}, "revert must be a str, not 3 (int)"),
]
OF_BIND: list[tuple[dict[str, Any], str]] = [
    ({"descriptions": None}, "or the path of a file or folder of them, not None (NoneType)"),
    ({"descriptions": "a\0b"}, r"not 'a\x00b' (str)"),
    (
        {"to": None},
        "to must be a dict or list of functions, a module, a class or an object with methods, not None (NoneType)",
    ),
    ({"to": "double"}, "not 'double' (str)"),
    ({"to": len}, "(builtin_function_or_method); put it into a list"),
]


def double(number: int) -> int:
    """Twice a number."""
    return 2 * number


class Silent:
    """A model that is never asked."""

    async def ask(self, request: ModelRequest) -> AsyncIterator[str | ModelAnswer]:
        raise AssertionError
        yield ""


@pytest.fixture
async def service(tmp_path: Path) -> AsyncIterator[CodeMode]:
    settings = Settings.model_validate({"state_folder": tmp_path / "state", "cache_folder": tmp_path / "cache"})
    async with CodeMode.from_settings(settings, functions={"maths": [double]}) as service:
        yield service


async def test_a_wrong_argument_is_told_with_what_is_wanted(service: CodeMode) -> None:
    for method, given, says in OF_SERVICE:
        with pytest.raises(WrongArgument) as caught:
            await getattr(service, method)(**given)
        assert str(caught.value).startswith(f"CodeMode.{method}: ")
        assert says in str(caught.value)
        assert "s3cr3t" not in str(caught.value)


async def test_so_is_one_of_executions(service: CodeMode) -> None:
    for method, given, says in OF_EXECUTIONS:
        with pytest.raises(WrongArgument) as caught:
            await getattr(service.executions, method)(caller=Caller("ann"), **given)
        assert str(caught.value).startswith(f"Executions.{method}: ")
        assert says in str(caught.value)


async def test_so_is_one_of_a_session_of_menus(service: CodeMode) -> None:
    session = await service.menu_session()
    for method, given, says in OF_MENUS:
        with pytest.raises(WrongArgument) as caught:
            answer = getattr(session, method)(**given)
            await answer
        assert str(caught.value).startswith(f"MenuSession.{method}: ")
        assert says in str(caught.value)


async def test_so_is_one_of_an_agent(service: CodeMode) -> None:
    for given, says in OF_AGENT:
        with pytest.raises(WrongArgument) as caught:
            Agent(**{"service": service, "model": Silent(), **given})
        assert says in str(caught.value)
        assert "s3cr3t" not in str(caught.value)
    agent = Agent(service, model=Silent())
    with pytest.raises(WrongArgument, match=r"message must be a str, not 3 \(int\)"):
        agent.run(3)  # type: ignore[arg-type]
    for history, kind, says in HISTORIES:
        with pytest.raises(kind) as refused:
            await agent.answer("x", history=history)
        assert says in str(refused.value)


def test_so_is_what_is_said_of_a_function() -> None:
    for given, says in OF_DECORATOR:
        with pytest.raises(WrongArgument) as caught:
            tool(**given)
        assert str(caught.value).startswith("tool: ")
        assert says in str(caught.value)
    for given, says in OF_BIND:
        with pytest.raises(WrongArgument) as refused:
            bind(**{"descriptions": [], "to": [double], **given})
        assert str(refused.value).startswith("bind: ")
        assert says in str(refused.value)


def test_a_service_is_made_from_what_makes_one() -> None:
    with pytest.raises(
        WrongArgument, match=r"settings must be a Settings, not 'x\.yaml' \(str\); CodeMode\.from_config"
    ):
        CodeMode.from_settings("x.yaml")  # type: ignore[arg-type]
    with pytest.raises(WrongArgument, match="settings must be a Settings, not None"):
        CodeMode(None)  # type: ignore[arg-type]
    with pytest.raises(WrongArgument, match=r"path must be the path of a file, a str or a Path, not None \(NoneType\)"):
        CodeMode.from_config(None)  # type: ignore[arg-type]
    with pytest.raises(WrongArgument, match=r"not \[<function double.*such as \{'shop': \[find_order\]\}"):
        CodeMode.from_settings(Settings(), functions=[double])  # type: ignore[arg-type]


@pytest.mark.parametrize(("given", "says"), [(3, "what was given is of the type int"), ({"a": "b"}, "under 'a'")])
async def test_data_is_no_source_of_functions(given: object, says: str) -> None:
    with pytest.raises(SourceError, match=says):
        async with CodeMode.from_functions(maths=given):
            pass


async def test_what_fits_is_taken_however_it_comes(service: CodeMode) -> None:
    assert (await service.search(("double a number", "twice"), limit=1)).hits
    assert (await service.search(["double"], namespace="maths")).hits
    outcome = await service.execute("maths.double(number=2)", credentials={})
    assert outcome.value == 4
    assert issubclass(WrongArgument, TypeError)
    assert issubclass(WrongArgument, CodeModeError)
    with pytest.raises(TypeError, match="limt"):
        await service.search("x", limt=3)  # type: ignore[call-arg]
