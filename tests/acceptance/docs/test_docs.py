"""Every code block of the documents runs: shell blocks of a page in one shell, in order; Python and YAML blocks alone.

A block that cannot run has its reason in a comment right before it: `<!-- not run: … -->`.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml

from codemode.settings import load_settings
from tests.ports import free_port

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[3]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
BLOCK = re.compile(
    r"(?:<!-- not run: (?P<reason>[^\n]+?) -->\n)?^```(?P<language>\w*)\n(?P<text>.*?)^```$", re.M | re.S
)
NOT_RUN_AT_MOST = 5

SERVICE = """
python -m api_specs.gym --port 8137 --token demo &
curl --silent --retry 40 --retry-connrefused --retry-delay 1 http://127.0.0.1:8137/openapi.json > gym.json
export GYM_TOKEN=demo
"""
CONFIGURATION = """
sources:
  gym:
    location: gym.json
    base_url: http://127.0.0.1:8137
    credentials: [{kind: bearer, token: {env: GYM_TOKEN}}]
"""


@dataclass(frozen=True)
class Block:
    page: Path
    line: int
    language: str
    text: str
    reason: str | None


def blocks() -> Iterator[Block]:
    for page in PAGES:
        content = page.read_text(encoding="utf-8")
        for found in BLOCK.finditer(content):
            line = content[: found.start()].count("\n") + 1
            yield Block(page, line, found["language"], found["text"], found["reason"])


BLOCKS = list(blocks())


#: Pages whose Python is about others' libraries: tests/integration/servers/test_mcp_clients.py runs it.
OF_OTHERS = (ROOT / "docs" / "how-to" / "mcp-clients.md",)


def in_page(page: Path, language: str) -> list[Block]:
    if page in OF_OTHERS and language == "python":
        return []
    return [b for b in BLOCKS if b.page == page and b.language == language and b.reason is None]


def with_blocks(language: str) -> list[Path]:
    return [page for page in PAGES if in_page(page, language)]


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def environment(folder: Path) -> dict[str, str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"  # noqa: TID251
    return {"PATH": path, "HOME": str(folder), "LANG": "C.UTF-8"}


#: What the import of langchain-core's client for traces warns of, on 3.14.
OF_LANGSMITH = "ignore::DeprecationWarning:langsmith._internal._beta_decorator"

#: The ports that the documents use; a test puts free ones in their place.
PORTS = ("8137", "8138")


def on_free_ports(text: str) -> str:
    """The text with ports that nothing listens on, and more patience with a server that starts on a busy machine."""
    for port in PORTS:
        text = text.replace(port, str(free_port()))
    return text.replace("--retry 40", "--retry 250")


def run_shell(script: str, folder: Path) -> None:
    """Run a page's shell blocks as one script that stops at the first error, and end what it left running."""
    whole = f"set -euo pipefail\ntrap 'kill $(jobs -p) 2>/dev/null || true; wait' EXIT\n{script}"
    ended = subprocess.run(["bash", "-c", whole], cwd=folder, env=environment(folder), capture_output=True, text=True)
    assert ended.returncode == 0, f"{ended.stdout[-3000:]}\n{ended.stderr[-3000:]}"


@pytest.mark.parametrize("page", with_blocks("bash"), ids=name)
def test_the_shell_blocks_of_a_page_run(page: Path, tmp_path: Path) -> None:
    run_shell(on_free_ports("\n".join(block.text for block in in_page(page, "bash"))), tmp_path)


@pytest.mark.parametrize("page", with_blocks("python"), ids=name)
def test_the_python_blocks_of_a_page_run(page: Path, tmp_path: Path) -> None:
    service, configuration = on_free_ports(f"{SERVICE}\0{CONFIGURATION}").split("\0")
    (tmp_path / "codemode.yaml").write_text(configuration, encoding="utf-8")
    for number, block in enumerate(in_page(page, "python")):
        (tmp_path / f"block_{number}.py").write_text(block.text, encoding="utf-8")
    python = f"python -W error -W {OF_LANGSMITH}"
    programs = "\n".join(f"{python} block_{number}.py" for number in range(len(in_page(page, "python"))))
    run_shell(service + programs, tmp_path)


@pytest.mark.parametrize("block", [b for b in BLOCKS if b.language == "yaml" and b.reason is None], ids=str)
def test_a_yaml_block_is_a_valid_configuration(block: Block, tmp_path: Path) -> None:
    file = tmp_path / "codemode.yaml"
    file.write_text(block.text, encoding="utf-8")
    load_settings(file)


def test_every_key_of_the_configuration_is_documented_with_its_default(tmp_path: Path) -> None:
    (block,) = in_page(ROOT / "docs" / "configuration.md", "yaml")
    documented = yaml.safe_load(block.text)
    file = tmp_path / "codemode.yaml"
    file.write_text("sources: {gym: {location: gym.json}}", encoding="utf-8")
    defaults = load_settings(file).model_dump(mode="json")
    for section in ("journal", "limits", "menu", "observe", "policy", "sandbox", "search", "server"):
        assert documented[section] == defaults[section], section
    assert set(documented["sources"]["gym"]) == set(defaults["sources"]["gym"])


def test_blocks_have_a_language_that_is_run_or_is_plain_text() -> None:
    assert {block.language for block in BLOCKS} <= {"bash", "python", "yaml", "text", "json"}


def test_few_blocks_are_not_run_and_each_says_why() -> None:
    assert len([block for block in BLOCKS if block.reason is not None]) <= NOT_RUN_AT_MOST


def test_links_between_the_documents_lead_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{name(page)}: {target}"
