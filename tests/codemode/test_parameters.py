"""A value of a wrong type is told where it is given, and nothing was done."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from codemode import CodeMode, Settings, SourceError
from codemode.errors import CodeModeError, WrongArgument
from codemode.gateway.caller import Caller

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

ID = "ex_" + "0" * 32

#: A method of the service, what it is given, and what it says.
OF_SERVICE: list[tuple[str, dict[str, Any], str]] = [
    ("search", {"queries": 3}, "queries is a str or a list of them, not 3 (int)"),
    ("search", {"queries": b"x"}, "queries is a str or a list of them, not b'x' (bytes); decode it first"),
    ("search", {"queries": ["x", None]}, "queries is a str or a list of them, not ['x', None] (list)"),
    ("search", {"queries": "x", "namespace": 3}, "namespace is a str or None, not 3 (int)"),
    ("search", {"queries": "x", "limit": "5"}, "limit is an int, not '5' (str); int() makes one of it"),
    ("search", {"queries": "x", "offset": 1.5}, "offset is an int, not 1.5 (float)"),
    ("search", {"queries": "x", "detail": "ful"}, "detail is 'auto' or 'full', not 'ful' (str); did you mean 'full'?"),
    ("search", {"queries": "x", "caller": "ann"}, "caller is a Caller, not 'ann' (str); Caller(…) makes one of an id"),
    ("describe", {"name": None}, "name is a str, not None (NoneType)"),
    ("execute", {"code": None}, "code is a str, not None (NoneType)"),
    ("execute", {"code": "1", "resume_from": 3}, "resume_from is a str, not 3 (int)"),
    ("execute", {"code": "1", "fresh_reads": "no"}, "fresh_reads is True or False, not 'no' (str)"),
    ("execute", {"code": "1", "watch": None}, "watch is a function, not None (NoneType); leave it out for none"),
    (
        "execute",
        {"code": "1", "credentials": {"X-Token": b"s3cr3t"}},
        "credentials is a dict of texts by their names, not what was given (dict)",
    ),
    ("select_menu", {"message": 3}, "message is a str, not 3 (int)"),
    ("select_menu", {"message": "x", "history": "y"}, "history is a list, not 'y' (str); put it into a list"),
    ("program_of", {"name": "x", "arguments": []}, "arguments is a dict, not [] (list)"),
    ("reload", {"settings": {}}, "settings is a Settings or None, not {} (dict); Settings.model_validate(…)"),
    ("evaluate_search", {"labelled": 3}, "labelled is the path of a file, a str or a Path, not 3 (int)"),
]

#: The same of its executions.
OF_EXECUTIONS: list[tuple[str, dict[str, Any], str]] = [
    ("get", {"execution": None}, "execution is a str, not None (NoneType)"),
    ("wait", {"execution": ID, "timeout_s": "30"}, "timeout_s is a number of seconds, not '30' (str)"),
    ("list", {"limit": None}, "limit is an int, not None (NoneType); leave it out for the default"),
    ("list", {"status": "complete"}, "not 'complete' (str); did you mean 'completed'?"),
    ("start", {"request": "1"}, "request is a Request, not '1' (str); Request(code) makes one of a program"),
    ("events", {"execution": ID, "after": "3"}, "after is an int, not '3' (str)"),
]


def double(number: int) -> int:
    """Twice a number."""
    return 2 * number


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


def test_a_service_is_made_from_what_makes_one() -> None:
    with pytest.raises(WrongArgument, match=r"settings is a Settings, not 'x\.yaml' \(str\); CodeMode\.from_config"):
        CodeMode.from_settings("x.yaml")  # type: ignore[arg-type]
    with pytest.raises(WrongArgument, match="settings is a Settings, not None"):
        CodeMode(None)  # type: ignore[arg-type]
    with pytest.raises(WrongArgument, match=r"path is the path of a file, a str or a Path, not None \(NoneType\)"):
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
