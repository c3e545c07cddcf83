"""The shell blocks of each example's README, run in a copy of its folder beside the example service."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from codemode.testing.model_server import ModelRequest, ModelServer, Reply
from tests.acceptance.docs.pages import ROOT, SERVICE, blocks_of, on_free_ports, run_shell, shell_of
from tests.integration.servers.running import program
from tests.postgres import cluster, programs

if TYPE_CHECKING:
    from collections.abc import Callable

EXAMPLES = ROOT / "examples"
TEXT_FILES = (".md", ".py", ".yaml", ".toml", ".ipynb")


@dataclass(frozen=True)
class Example:
    """A copy of an example; `script` starts the service and then runs the README's commands."""

    folder: Path
    script: str

    def run(self, **options: Any) -> str:
        return run_shell(self.script, self.folder, **options)


@pytest.fixture
def example(tmp_path: Path) -> Callable[[str], Example]:
    """A function that copies an example, with free ports in all of its files."""

    def copied(name: str) -> Example:
        folder = tmp_path / name
        shutil.copytree(EXAMPLES / name, folder)
        files = [file for file in folder.rglob("*") if file.suffix in TEXT_FILES]
        texts = on_free_ports("\0".join([SERVICE, *(file.read_text(encoding="utf-8") for file in files)])).split("\0")
        for file, text in zip(files, texts[1:], strict=True):
            file.write_text(text, encoding="utf-8")
        return Example(folder, texts[0] + shell_of(folder / "README.md"))

    return copied


def test_fastapi(example: Callable[[str], Example]) -> None:
    said = example("fastapi_app").run()
    assert "gym.memberships.freeze_membership(" in said
    assert '"value":"Northlight Fitness"' in said
    assert '"tool":"gym.core.get_gym_info"' in said
    assert said.rstrip().splitlines()[-1].isdigit()


def _clerk(seen: ModelRequest) -> Reply:
    """A model that finds the operation, counts the members, and answers."""
    if not seen.answers:
        return Reply(calls=[("search", {"queries": ["list the members"]})])
    if len(seen.answers) == 1:
        assert "gym.clients.get_clients_list(" in seen.answers[0].text
        return Reply(calls=[("execute", {"code": "gym.clients.get_clients_list(limit=1)['total']"})])
    return Reply(f"The gym answered: {seen.answers[-1].text}")


@pytest.mark.parametrize("name", ["langgraph_agent", "openai_agents_mcp", "pydantic_ai_agent"])
async def test_an_agent_of_a_framework(example: Callable[[str], Example], name: str) -> None:
    installed = Path(program("examples", "python")).parent
    async with ModelServer(_clerk) as model:
        variables = {
            "OPENAI_BASE_URL": model.base_url,
            "OPENAI_API_KEY": model.key,
            "OPENAI_AGENTS_DISABLE_TRACING": "1",
        }
        said = await asyncio.to_thread(example(name).run, programs=installed, **variables)
    assert re.search(r"The gym answered: .*\d", said), said
    assert [sorted(seen.tools) for seen in model.seen] == [["execute", "search"]] * 3
    assert model.refused == []


async def test_a_loop_of_ones_own_streams_and_asks_for_an_approval(example: Callable[[str], Example]) -> None:
    def freezes(seen: ModelRequest) -> Reply:
        if not seen.answers:
            return Reply(calls=[("search", {"queries": ["freeze a membership"]})])
        if len(seen.answers) == 1:
            assert seen.answers[0].text.startswith("# gym: ")
            place = 0 if "Ann" in seen.message else 1
            code = f"who = gym.clients.get_clients_list(status='active')['items'][{place}]['id']\n"
            code += "gym.memberships.freeze_membership(clientId=who)['status']"
            return Reply(calls=[("execute", {"code": code})])
        return Reply(f"It is frozen: {seen.answers[-1].text}")

    own_loop = example("own_loop")
    first, *programs = [one.text for one in blocks_of(ROOT / "docs/how-to/own-loop.md") if one.language == "python"]
    assert programs == [
        (EXAMPLES / "own_loop" / name).read_text(encoding="utf-8") for name in ("responses.py", "chat.py")
    ]
    (own_loop.folder / "first.py").write_text(first, encoding="utf-8")
    own_loop = replace(own_loop, script=f"{own_loop.script}\npython first.py")
    async with ModelServer(freezes) as model:
        variables = {"OPENAI_BASE_URL": model.base_url, "OPENAI_API_KEY": model.key}
        said = await asyncio.to_thread(own_loop.run, **variables)
    assert said.endswith("['search', 'execute']\ncompleted \"Northlight Fitness\"\n")
    asked = "gym.memberships.freeze_membership {'clientId': "
    assert (said.count(asked), said.count("It is frozen: ")) == (2, 2), said
    assert "ToolError" not in said
    assert [seen.api for seen in model.seen] == ["responses"] * 3 + ["chat"] * 3
    assert all(seen.body["stream"] for seen in model.seen)
    assert model.refused == []


def test_notebook(example: Callable[[str], Example]) -> None:
    installed = Path(program("examples", "jupyter")).parent
    notebook = example("notebook")
    notebook.run(programs=installed)
    cells = json.loads((notebook.folder / "gym.ipynb").read_text(encoding="utf-8"))["cells"]
    shown = json.dumps([cell.get("outputs") for cell in cells])
    assert "gym.trainers.get_trainers_list(" in shown
    assert "'committed'" in shown


def test_toolkit(example: Callable[[str], Example]) -> None:
    said = example("toolkit").run()
    assert "shop.orders.find_orders(" in said
    assert "reminded Nile Tea of order 1" in said
    assert "reminded Alpine Salt of order 3" in said


def test_custom_source(example: Callable[[str], Example]) -> None:
    said = example("custom_source").run()
    assert "sky.forecast" in said
    assert re.search(r'"city": "Oslo",\W+"degrees": 7', said), said


def test_plugin(example: Callable[[str], Example]) -> None:
    said = example("plugin").run()
    assert '"card"' not in said
    assert re.search(r'"order": 1,\W+"amount": 20', said), said
    assert "by plugin refund_desk: order 7 is disputed; nothing was sent" in said
    assert "plugin refund_desk rejected shop.refund: 9000 is more than anybody refunds" in said
    assert "rule 1 (refunds), approved by plugin refund_desk" in said
    assert said.count('"rule": "plugin refund_desk"') == 1


def test_approvals(example: Callable[[str], Example]) -> None:
    said = example("approvals").run()
    assert "a manager agrees to every freeze" in said
    assert '"status": "frozen"' in said
    assert "completed" in said


def test_postgres(example: Callable[[str], Example]) -> None:
    if programs() is None:
        pytest.skip("initdb and pg_ctl are not here: install the distribution's package postgresql")
    with cluster() as url:
        said = example("postgres").run(DATABASE_URL=url, JOURNAL_KEY="a key that all servers share")
    assert '"members": ' in said
    assert "completed" in said
