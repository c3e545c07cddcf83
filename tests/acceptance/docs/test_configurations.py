"""Every configuration in the documents and the examples matches the JSON Schema."""

from __future__ import annotations

import json
import re
from itertools import chain
from typing import TYPE_CHECKING

import pytest
import yaml
from jsonschema import Draft202012Validator

from codemode.bench.task_file import read_tasks
from codemode.settings.schema import shipped
from codemode.text.yaml import YamlLoader
from tests.acceptance.docs.pages import ROOT, blocks_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SCHEMA = json.loads(shipped())

#: A YAML file that a shell block writes.
WRITTEN = re.compile(r"^cat > \S+\.yaml <<'?(\w+)'?\n(.*?)^\1$", re.MULTILINE | re.DOTALL)


def configurations_in(page: Path) -> Iterator[tuple[str, str]]:
    for block in blocks_of(page):
        place = f"{page.relative_to(ROOT)}:{block.line}"
        if block.language == "yaml" or (block.language == "text" and is_configuration(block.text)):
            yield place, block.text
        for found in WRITTEN.finditer(block.text):
            if is_configuration(found[2]):
                yield place, found[2]


def is_configuration(text: str) -> bool:
    try:
        content = yaml.load(text, YamlLoader)  # noqa: S506 -- a safe loader
    except yaml.YAMLError:
        return False
    is_tasks = isinstance(content, dict) and "tasks" in content  # which have `modes` too
    return isinstance(content, dict) and not is_tasks and not content.keys().isdisjoint(SCHEMA["properties"])


def tasks_in(page: Path) -> Iterator[tuple[str, str]]:
    for block in blocks_of(page):
        if block.language == "text" and re.search(r"^tasks:$", block.text, re.MULTILINE):
            yield f"{page.relative_to(ROOT)}:{block.line}", block.text


PAGES = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.md")]
FILES = [(str(file.relative_to(ROOT)), file.read_text("utf-8")) for file in (ROOT / "examples").rglob("codemode.yaml")]
CONFIGURATIONS = dict(sorted([*chain.from_iterable(map(configurations_in, PAGES)), *FILES]))


TASKS = dict(chain.from_iterable(map(tasks_in, PAGES)))


@pytest.mark.parametrize("place", TASKS)
def test_a_file_of_tasks_can_be_read(place: str, tmp_path: Path) -> None:
    file = tmp_path / "tasks.yaml"
    file.write_text(TASKS[place], encoding="utf-8")
    assert read_tasks(file).tasks


def problems(text: str, schema: dict[str, object]) -> list[str]:
    content = yaml.load(text, YamlLoader)  # noqa: S506 -- a safe loader
    content = json.loads(json.dumps(content))  # names are text in JSON
    return [f"{error.json_path}: {error.message}" for error in Draft202012Validator(schema).iter_errors(content)]


@pytest.mark.parametrize("place", CONFIGURATIONS)
def test_a_configuration_matches_the_schema(place: str) -> None:
    assert problems(CONFIGURATIONS[place], SCHEMA) == []


def test_a_menu_in_its_own_file_matches_its_section() -> None:
    menu = (ROOT / "api_specs" / "gym" / "menu.yaml").read_text("utf-8")
    assert problems(menu, {"$ref": "#/$defs/MenuSettings", "$defs": SCHEMA["$defs"]}) == []


def test_configurations_are_found_in_pages_shell_blocks_and_files() -> None:
    assert {"docs/reference/configuration.md:10", "examples/toolkit/codemode.yaml"} <= CONFIGURATIONS.keys()
    assert len(CONFIGURATIONS) > 35
