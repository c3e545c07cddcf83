"""Every code block of the documents runs: shell blocks of a page in one shell, in order; Python and YAML blocks alone.

A block that cannot run has its reason in a comment right before it: `<!-- not run: … -->`.
"""

from __future__ import annotations

import re
from itertools import chain
from typing import TYPE_CHECKING

import pytest
import yaml

from codemode.settings import load_settings
from tests.acceptance.docs.pages import OWN_API, ROOT, SERVICE, Block, blocks_of, on_free_ports, run_shell, shell_of

if TYPE_CHECKING:
    from pathlib import Path

PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
NOT_RUN_AT_MOST = 8

CONFIGURATION = """
sources:
  gym:
    location: gym.json
    base_url: http://127.0.0.1:8137
    credentials: [{kind: bearer, token: {env: GYM_TOKEN}}]
"""

BLOCKS = list(chain.from_iterable(map(blocks_of, PAGES)))

#: Pages whose Python is about others' libraries: tests/integration/servers/test_mcp_clients.py,
#: tests/integration/codemode/adapters/test_page.py and tests/acceptance/examples/test_examples.py run it.
OF_OTHERS = tuple(ROOT / "docs" / "how-to" / f"{name}.md" for name in ("mcp-clients", "frameworks", "own-loop"))

#: What the import of langchain-core's client for traces warns of, on 3.14.
OF_LANGSMITH = "ignore::DeprecationWarning:langsmith._internal._beta_decorator"


def in_page(page: Path, language: str) -> list[Block]:
    if page in OF_OTHERS and language == "python":
        return []
    return [b for b in BLOCKS if b.page == page and b.language == language and b.reason is None]


def with_blocks(language: str) -> list[Path]:
    return [page for page in PAGES if in_page(page, language)]


def name(page: Path) -> str:
    return str(page.relative_to(ROOT))


@pytest.mark.parametrize("page", with_blocks("bash"), ids=name)
def test_the_shell_blocks_of_a_page_run(page: Path, tmp_path: Path) -> None:
    script = shell_of(page)
    if OWN_API in script:
        script = SERVICE + script.replace(OWN_API, "http://127.0.0.1:8137")
    run_shell(on_free_ports(script), tmp_path)


@pytest.mark.parametrize("page", with_blocks("python"), ids=name)
def test_the_python_blocks_of_a_page_run(page: Path, tmp_path: Path) -> None:
    texts = [SERVICE, CONFIGURATION, *(block.text for block in in_page(page, "python"))]
    service, configuration, *blocks = on_free_ports("\0".join(texts)).split("\0")
    (tmp_path / "codemode.yaml").write_text(configuration, encoding="utf-8")
    for number, block in enumerate(blocks):
        (tmp_path / f"block_{number}.py").write_text(block, encoding="utf-8")
    python = f"python -W error -W {OF_LANGSMITH}"
    programs = "\n".join(f"{python} block_{number}.py" for number in range(len(in_page(page, "python"))))
    run_shell(service + programs, tmp_path)


@pytest.mark.parametrize("block", [b for b in BLOCKS if b.language == "yaml" and b.reason is None], ids=str)
def test_a_yaml_block_is_a_valid_configuration(block: Block, tmp_path: Path) -> None:
    file = tmp_path / "codemode.yaml"
    file.write_text(block.text, encoding="utf-8")
    load_settings(file)


def test_every_key_of_the_configuration_is_documented_with_its_default(tmp_path: Path) -> None:
    block = in_page(ROOT / "docs" / "reference" / "configuration.md", "yaml")[0]
    documented = yaml.safe_load(block.text)
    file = tmp_path / "codemode.yaml"
    file.write_text("sources: {gym: {location: gym.json}}", encoding="utf-8")
    defaults = load_settings(file).model_dump(mode="json")
    sections = (
        "content",
        "definitions",
        "journal",
        "limits",
        "menu",
        "notify",
        "observe",
        "policy",
        "sandbox",
        "saved",
        "search",
        "server",
    )
    for section in sections:
        assert documented[section] == defaults[section], section
    assert set(documented["sources"]["gym"]) == set(defaults["sources"]["gym"])


#: What a guide may import from this project: docs/reference/api.md and docs/reference/deprecation.md name it.
PUBLIC = re.compile(
    r"codemode|sandbox(\.testing)?|codemode\.(settings|serving\.agent|(adapters|testing|bench)(\.\w+)?)|api_specs\S*"
)


@pytest.mark.parametrize(
    "page", [page for page in PAGES if page.parent.name in ("how-to", "tutorial") or page.name == "README.md"], ids=name
)
def test_a_guide_imports_public_names_only(page: Path) -> None:
    texts = [block.text for block in blocks_of(page) if block.language in ("python", "bash")]
    imported = re.findall(r"^(?:from|import) ((?:codemode|sandbox|api_specs)[\w.]*)", "\n".join(texts), re.MULTILINE)
    assert [module for module in imported if not PUBLIC.fullmatch(module)] == []


def test_blocks_have_a_language_that_is_run_or_is_plain_text() -> None:
    assert {block.language for block in BLOCKS} <= {"bash", "python", "yaml", "text", "json"}


def test_few_blocks_are_not_run_and_each_says_why() -> None:
    assert len([block for block in BLOCKS if block.reason is not None]) <= NOT_RUN_AT_MOST


#: Where the repository's host serves the files themselves.
RAW = "https://raw.githubusercontent.com/codemode/codemode/main/"

#: Pages whose links are checked and whose blocks run elsewhere or not at all.
BESIDE = [
    ROOT / "CONTRIBUTING.md",
    ROOT / "SECURITY.md",
    ROOT / "benchmarks" / "README.md",
    *(ROOT / "examples").rglob("README.md"),
]


def test_links_between_the_documents_lead_somewhere() -> None:
    for page in [*PAGES, *BESIDE]:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{name(page)}: {target}"


def test_the_images_of_the_readme_are_shown_by_a_package_index_too() -> None:
    images = re.findall(r"!\[[^]]*\]\(([^)]+)\)", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert images
    for image in images:
        assert image.startswith(RAW)
        assert (ROOT / image.removeprefix(RAW)).exists()


def test_the_list_of_benchmarks_names_each_once() -> None:
    listed = re.findall(
        r"^\| `(\w+)` \|", (ROOT / "benchmarks" / "README.md").read_text(encoding="utf-8"), re.MULTILINE
    )
    started = [file.stem for file in (ROOT / "benchmarks").glob("[a-z]*.py") if "__main__" in file.read_text("utf-8")]
    assert sorted(listed) == sorted({*started} - {"one_process"})


def test_the_glossary_defines_a_term_once() -> None:
    page = (ROOT / "docs" / "reference" / "glossary.md").read_text(encoding="utf-8")
    terms = re.findall(r"^\*\*(.+?)\*\*: \S", page, re.MULTILINE)
    assert len(terms) > 50
    assert len(terms) == len({term.casefold() for term in terms})
