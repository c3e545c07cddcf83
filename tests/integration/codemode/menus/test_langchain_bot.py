"""The bot of docs/how-to/menus.md, before and after the change of two lines, against a model by script."""

from __future__ import annotations

import asyncio
import difflib
import json
import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from api_specs.gym.document import PATH as GYM
from codemode.service import CodeMode
from codemode.testing.model_server import ModelServer, Reply

if TYPE_CHECKING:
    from codemode.testing.model_server import ModelRequest

PAGE = Path(__file__).parents[4] / "docs" / "how-to" / "menus.md"
BEFORE, AFTER = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)

GYM_TOOLS = """
import json
from langchain_core.tools import StructuredTool

def made(name, tag):
    def run(search: str = "") -> str:
        return f"{name} was called with {search!r}"
    return StructuredTool.from_function(run, name=name, description=name.replace("_", " "), tags=[tag])

ALL = [made(name, tag) for name, tag in json.load(open("tools.json"))]
"""
ASKING = """

import asyncio, sys
print(asyncio.run(answer([("human", sys.argv[1])])))
"""


def test_two_lines_and_an_import_differ() -> None:
    changes = [line for line in difflib.ndiff(BEFORE.splitlines(), AFTER.splitlines()) if line[0] == "+"]
    assert len(changes) == 3
    assert [line for line in changes if line.startswith("+ from codemode import")]


def write_bot(folder: Path, bot: str) -> None:
    operations = [
        (operation["operationId"], operation["tags"][0])
        for path in yaml.safe_load(GYM.read_text(encoding="utf-8"))["paths"].values()
        for operation in path.values()
    ]
    (folder / "tools.json").write_text(json.dumps(operations), encoding="utf-8")
    (folder / "gym_tools.py").write_text(GYM_TOOLS, encoding="utf-8")
    (folder / "bot.py").write_text(bot + ASKING, encoding="utf-8")
    configuration = {"sources": {"gym": {"location": "python:gym_tools:ALL"}}, "menu": str(GYM.with_name("menu.yaml"))}
    (folder / "codemode.yaml").write_text(yaml.safe_dump(configuration), encoding="utf-8")


async def ask(folder: Path, server: ModelServer, question: str) -> tuple[int, str, str]:
    surroundings = {
        "PATH": os.environ["PATH"],  # noqa: TID251
        "HOME": str(folder),
        "OPENAI_API_KEY": server.key,
        "OPENAI_BASE_URL": server.base_url,
    }
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "bot.py", question),
        cwd=folder,
        env=surroundings,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    printed, errors = await process.communicate()
    return process.returncode or 0, printed.decode().strip(), errors.decode()


def find_john(seen: ModelRequest) -> Reply:
    if seen.answers:
        return Reply(f"answered: {seen.answers[-1].text}")
    return Reply(calls=[("get_clients_list", {"search": "John"})])


async def test_the_bot_is_refused_with_all_tools_and_works_with_a_menu(tmp_path: Path) -> None:
    async with ModelServer(find_john) as server:
        write_bot(tmp_path, BEFORE)
        code, _, errors = await ask(tmp_path, server, "find the client John")
        assert code == 1
        assert "array too long" in errors
        write_bot(tmp_path, AFTER)
        code, printed, errors = await ask(tmp_path, server, "find the client John")
        assert (code, printed) == (0, "answered: get_clients_list was called with 'John'"), errors
        assert [len(seen.tools) for seen in server.seen] == [32, 32]
        assert list(server.seen[0].tools)[:2] == ["change_theme", "navigate_to_page"]


async def test_langchain_tools_call_through_the_gateway() -> None:
    def find_order(number: int) -> dict[str, int]:
        """Find an order."""
        if number < 0:
            message = "there are no such orders"
            raise ValueError(message)
        return {"number": number}

    service = CodeMode.from_functions(shop=[find_order])
    async with service:
        (tool,) = (await service.select_menu("an order")).langchain_tools()
        assert tool.name == "find_order"
        assert await tool.ainvoke({"number": 7}) == {"number": 7}
        call = {"type": "tool_call", "id": "c1", "name": "find_order", "args": {"number": -1}}
        assert "there are no such orders" in (await tool.ainvoke(call)).content


async def test_two_langchain_tools_of_one_name_are_told_apart() -> None:
    def bank_pay(amount: int) -> str:
        """Pay an amount at the bank."""
        return f"bank {amount}"

    def shop_pay(amount: int) -> str:
        """Pay an amount in the shop."""
        return f"shop {amount}"

    bank_pay.__name__ = shop_pay.__name__ = "pay"
    async with CodeMode.from_functions(bank=[bank_pay], shop=[shop_pay]) as service:
        tools = {tool.name: tool for tool in (await service.select_menu("pay an amount")).langchain_tools()}
        assert set(tools) == {"bank-pay", "shop-pay"}
        assert await tools["bank-pay"].ainvoke({"amount": 7}) == "bank 7"
