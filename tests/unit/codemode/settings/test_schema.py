"""The JSON Schema: shipped, current, and as strict as the settings."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from codemode.errors import ConfigurationError
from codemode.settings import load_settings
from codemode.settings.keys import keys
from codemode.settings.schema import generated, shipped

if TYPE_CHECKING:
    from pathlib import Path

SCHEMA = json.loads(shipped())
VALIDATOR = Draft202012Validator(SCHEMA)
KEYS = keys()


def source(text: str) -> str:
    return f"sources: {{gym: {{location: gym.json, {text}}}}}"


def sections(text: str) -> str:
    return f"sources: {{gym: {{location: gym.json}}}}\n{text}"


def test_the_shipped_schema_is_current() -> None:
    assert generated() == SCHEMA, "run `make schema`"


def test_it_is_a_schema_of_draft_2020_12() -> None:
    assert SCHEMA["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    Draft202012Validator.check_schema(SCHEMA)


def test_a_key_has_a_description_and_a_valid_example(subtests: pytest.Subtests) -> None:
    for key in KEYS:
        with subtests.test(key.name):
            assert key.description.endswith("."), "give the field a description in full sentences"
            assert len(key.description) < 400
            validator = VALIDATOR.evolve(schema={"$defs": SCHEMA["$defs"], **key.schema})
            for example in (key.example, *key.schema.get("examples", ())):
                assert example not in (None, "", [], {}), "give the field an example"
                validator.validate(example)


@pytest.mark.parametrize(
    "text",
    [
        sections("menu: menu.yaml"),
        sections("menu: {router: lexical, retrieval: 15, core: one, categories: {mail: {keywords: [letter, 7]}}}"),
        sections("menu: {router: {kind: model, model: {model: m}}, retrieval: {k: 15}, core: [a, b]}"),
        sections("menu: {categories: {mail: {keywords: {letter: 2, 7: 1}}}}"),
        sections("server: {keys: [{env: A, role: approver, label: x}, {secret: {file: b}}]}"),
        sections("policy: {rules: [{tools: gym.*, effects: write, where: {to: [x, 1]}, decision: ask}]}"),
        sections("journal: {url: {env: URL}, key: {command: [pass, show]}, lease_s: 15}"),
        sections("search: {embeddings: {kind: local}}"),
        source("base_url: HTTPS://x.example, headers: {A: x, B: {env: C}}, parameters: {a: 1, b: [x, 2]}"),
        "sources: {gym: {command: [gym-server], env: {A: x, B: {env: C}}}}",
        source("credentials: [{kind: bearer, token: {caller: X-Token}}, {kind: none}]"),
    ],
)
def test_a_file_as_people_write_it_is_valid_for_both(text: str, tmp_path: Path) -> None:
    (tmp_path / "menu.yaml").write_text("cap: 8", encoding="utf-8")
    assert errors(text) == []
    load_settings(written(text, tmp_path))


@pytest.mark.parametrize(
    "text",
    [
        sections("limts: {}"),
        sections("limits: {wall_s: 0}"),
        sections("limits: {calls: many}"),
        sections("menu: {router: lexicall}"),
        sections("menu: 7"),
        sections("server: {keys: [{env: A, file: b}]}"),
        sections("server: {keys: [{role: approver}]}"),
        sections("policy: {rules: [{tools: gym.*}]}"),
        sections("search: {embeddings: {kind: lokal}}"),
        source("credentials: [{kind: bearer, token: hunter2}]"),
        source("credentials: [{kind: bearer, token: {env: A, file: b}}]"),
        source("base_url: localhost"),
        "sources: {Gym: {location: gym.json}}",
    ],
)
def test_a_mistake_is_rejected_by_both(text: str, tmp_path: Path) -> None:
    assert errors(text)
    with pytest.raises(ConfigurationError):
        load_settings(written(text, tmp_path))


def errors(text: str) -> list[Any]:
    content = json.loads(json.dumps(yaml.safe_load(text)))  # names are text in JSON
    return list(VALIDATOR.iter_errors(content))


def written(text: str, folder: Path) -> Path:
    file = folder / "codemode.yaml"
    file.write_text(text, encoding="utf-8")
    return file
