"""LangChain tools as a source: from Python code and from a configuration."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import pytest
from langchain_core.tools import BaseTool, BaseToolkit, InjectedToolArg, StructuredTool, ToolException
from langchain_core.tools import tool as langchain_tool
from pydantic import BaseModel, Field

import codemode
from codemode import CodeMode, SourceError
from codemode.catalog import stubs
from codemode.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


class Query(BaseModel):
    """What is looked for."""

    text: str = Field(description="Any part of it.")
    limit: int = Field(default=3, ge=1)


@langchain_tool(args_schema=Query)
@codemode.tool(effect="read")
def find_orders(text: str, limit: int = 3) -> list[str]:
    """Find orders by what they hold. The newest first."""
    return [text] * limit


@langchain_tool
async def cancel_order(number: int, who: Annotated[str, InjectedToolArg] = "the shop") -> str:
    """Cancel an order."""
    if number < 0:
        raise ToolException("there is no such order")
    return f"{number} cancelled by {who}"


@langchain_tool(response_format="content_and_artifact")
def report(year: int) -> tuple[str, dict[str, Any]]:
    """Make the report of a year."""
    return f"3 orders in {year}", {"orders": [1, 2, 3], "year": year}


@langchain_tool("draw-chart", response_format="content_and_artifact")
async def draw(title: str) -> tuple[str, object]:
    """Draw a chart."""
    return title, object()


class Ping(BaseTool):
    """A tool that is a class."""

    name: str = "ping"
    description: str = "Answer. Nothing else."
    metadata: dict[str, Any] | None = Field(default={"effect": "read"})

    def _run(self, host: str) -> str:
        return f"pong {host}"


BY_SCHEMA = StructuredTool.from_function(
    func=lambda **given: given,
    name="store",
    description="Store a value.",
    args_schema={
        "type": "object",
        "properties": {"from": {"type": "string"}, "size": {"type": "integer"}},
        "required": ["from"],
    },
)


class Shop(BaseToolkit):
    """Tools that belong together."""

    def get_tools(self) -> list[BaseTool]:
        return [find_orders, cancel_order]


def plus(left: int, right: int) -> int:
    """Add."""
    return left + right


async def test_tools_of_every_kind_stand_beside_functions() -> None:
    tools = [find_orders, cancel_order, report, draw, Ping(), BY_SCHEMA, plus]
    async with CodeMode.from_functions(shop=tools) as service:
        signatures = {one.path: stubs.signature(one).partition("  #")[0] for one in service.catalog}
        assert signatures == {
            "cancel_order": "shop.cancel_order(*, number: int) -> str",
            "draw_chart": "shop.draw_chart(*, title: str) -> Any",
            "find_orders": "shop.find_orders(*, text: str, limit: int = 3) -> list[str]",
            "ping": "shop.ping(*, host: str) -> Any",
            "plus": "shop.plus(*, left: int, right: int) -> int",
            "report": "shop.report(*, year: int) -> Any",
            "store": "shop.store(*, from_: str, size: int | None = None) -> Any",
        }
        assert {one.path: str(one.effect) for one in service.catalog if one.effect != "write"} == {
            "find_orders": "read",
            "ping": "read",
        }
        find = service.catalog.get("shop.find_orders")
        assert (find.summary, find.parameters[0].description) == ("Find orders by what they hold", "Any part of it.")
        code = """
s = shop
done = [s.find_orders(text="a", limit=2), s.cancel_order(number=7), s.ping(host="h")]
done + [s.store(from_="x", size=1), s.plus(left=1, right=2)]
"""
        outcome = await service.execute(code)
        assert outcome.value == [["a", "a"], "7 cancelled by the shop", "pong h", {"from": "x", "size": 1}, 3]


async def test_content_and_artifact_are_both_given_and_objects_are_named() -> None:
    async with CodeMode.from_functions(shop=[report, draw]) as service:
        made = {"content": "3 orders in 2026", "artifact": {"orders": [1, 2, 3], "year": 2026}}
        assert (await service.execute("shop.report(year=2026)")).value == made
        assert (await service.execute("shop.draw_chart(title='t')")).value == {"content": "t", "artifact": "<object>"}


async def test_what_a_tool_raises_and_what_its_schema_refuses_reach_the_program() -> None:
    async with CodeMode.from_functions(shop=[cancel_order, find_orders]) as service:
        failed = await service.execute("shop.cancel_order(number=-1)")
        assert failed.failure is not None
        assert "there is no such order" in failed.failure.message
        refused = await service.execute("n = 0\nshop.find_orders(text='a', limit=n)")
        assert refused.failure is not None
        assert "limit" in refused.failure.message


async def test_a_toolkit_gives_its_tools() -> None:
    async with CodeMode.from_functions(shop=Shop()) as service:
        assert [one.id for one in service.catalog] == ["shop.cancel_order", "shop.find_orders"]


CODE = '''
from langchain_core.tools import tool

@tool
def find(text: str) -> str:
    """Find something."""
    return text

def find_plain(text): return text

TOOLS = [find]
'''
DESCRIPTIONS = "tool_descriptions: [{name: find, description: Look for it., args: {text: The words.}}]"


@pytest.fixture
def configured(tmp_path: Path) -> Callable[..., Settings]:
    (tmp_path / "shop.py").write_text(CODE)
    (tmp_path / "agent.yaml").write_text(DESCRIPTIONS)

    def settings(**source: Any) -> Settings:
        folders = {"state_folder": tmp_path / "state", "cache_folder": tmp_path / "cache"}
        return Settings.model_validate({"sources": {"shop": source}, **folders})

    return settings


async def test_a_configuration_names_their_module(configured: Callable[..., Settings], tmp_path: Path) -> None:
    async with CodeMode.from_settings(configured(location=f"{tmp_path}/shop.py:TOOLS")) as service:
        assert (await service.execute("shop.find(text='x')")).value == "x"


async def test_tool_descriptions_take_their_types(configured: Callable[..., Settings], tmp_path: Path) -> None:
    settings = configured(location=str(tmp_path / "agent.yaml"), bind=f"{tmp_path}/shop.py:TOOLS")
    async with CodeMode.from_settings(settings) as service:
        (tool,) = service.catalog
        assert (tool.description, tool.parameters[0].description) == ("Look for it.", "The words.")
        assert (await service.execute("shop.find(text='x')")).value == "x"


async def test_who_has_no_langchain_is_told_the_extra(
    configured: Callable[..., Settings], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "langchain_core", None)
    monkeypatch.delitem(sys.modules, "langchain_core.tools")
    with pytest.raises(SourceError, match=r"pip install 'codemode\[langchain\]'"):
        await CodeMode.from_settings(configured(location=f"{tmp_path}/shop.py:TOOLS"), strict=True).__aenter__()
