"""The Python blocks of the page about agent frameworks, with a model that counts members and approvals of each read."""

from __future__ import annotations

import asyncio
import re
from typing import TYPE_CHECKING, Any

import pytest

from codemode.testing.model_server import ModelRequest, ModelServer, Reply
from tests.acceptance.docs.pages import ROOT, SERVICE, blocks_of, on_free_ports, run_shell

if TYPE_CHECKING:
    from pathlib import Path

PAGE = ROOT / "docs" / "how-to" / "frameworks.md"
BLOCKS = [block for block in blocks_of(PAGE) if block.language == "python"]

CONFIGURATION = """
sources:
  gym:
    location: gym.json
    base_url: http://127.0.0.1:8137
    credentials: [{kind: bearer, token: {env: GYM_TOKEN}}]
policy: {default: {read: ask}}
state_folder: state
"""


def clerk(seen: ModelRequest) -> Reply:
    if not seen.answers:
        return Reply(calls=[("execute", {"code": "gym.clients.get_clients_list(limit=1)['total']"})])
    paused = re.search(r"resume_from='(\w+)'", seen.answers[-1].text)
    if paused is not None:
        return Reply(calls=[("execute", {"code": "", "resume_from": paused[1]})])
    return Reply(f"The gym answered: {seen.answers[-1].text}")


@pytest.mark.parametrize(
    ("adapter", "module"),
    [("langchain", "langchain"), ("pydantic_ai", "pydantic_ai"), ("openai_agents", "agents"), ("fastmcp", "fastmcp")],
)
async def test_the_block_of_a_framework_runs(adapter: str, module: str, tmp_path: Path) -> None:
    pytest.importorskip(module, reason=f"{module} is not installed: make servers")
    (block,) = (block for block in BLOCKS if f"codemode.adapters.{adapter} " in block.text)
    service, configuration = on_free_ports("\0".join([SERVICE, CONFIGURATION])).split("\0")
    (tmp_path / "codemode.yaml").write_text(configuration, encoding="utf-8")
    (tmp_path / "block.py").write_text(block.text, encoding="utf-8")
    async with ModelServer(clerk) as model:
        variables: dict[str, Any] = {
            "OPENAI_BASE_URL": model.base_url,
            "OPENAI_API_KEY": model.key,
            "OPENAI_AGENTS_DISABLE_TRACING": "1",
        }
        said = await asyncio.to_thread(run_shell, service + "python block.py", tmp_path, **variables)
    assert "approved:" in said
    assert re.search(r"The gym answered: \d+$", said, re.M), said
