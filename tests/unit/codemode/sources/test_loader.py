"""What is wrong with one source is said with its place in the configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from codemode import CodeMode, ConfigurationError, SourceError
from codemode.serving.auth.callers import Callers
from codemode.settings import load_settings

if TYPE_CHECKING:
    from pathlib import Path

DOCUMENT = '{"openapi": "3.1.0", "paths": {"/pets": {"get": {"operationId": "listPets"}}}}'
FILE = """
sources:
  pets:
    location: pets.json
    WRONG
server:
  keys: [{env: NO_SUCH_KEY}]
"""


def _written(folder: Path, wrong: str = "") -> Path:
    (folder / "pets.json").write_text(DOCUMENT, encoding="utf-8")
    file = folder / "codemode.yaml"
    folders = f"state_folder: {folder / 'state'}\ncache_folder: {folder / 'cache'}\n"
    file.write_text(FILE.replace("WRONG", wrong) + folders, encoding="utf-8")
    return file


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ("base_url: 'http://'", "'http://' is no http or https address"),
    ],
)
async def test_a_source_that_cannot_be_used_is_named(tmp_path: Path, wrong: str, says: str) -> None:
    with pytest.raises(ConfigurationError, match=rf"codemode\.yaml, line 3: sources\.pets: .*{says}"):
        async with CodeMode.from_config(_written(tmp_path, wrong)):
            pass


def test_a_key_of_the_server_that_is_not_there_is_named(tmp_path: Path) -> None:
    settings = load_settings(_written(tmp_path))
    with pytest.raises(ConfigurationError, match=r"codemode\.yaml, line 7: server\.keys\.0: cannot read a secret: "):
        Callers.of(settings)


async def test_data_in_the_place_of_functions_is_named_with_its_file(tmp_path: Path) -> None:
    (tmp_path / "data.py").write_text("X = 3\n", encoding="utf-8")
    file = tmp_path / "codemode.yaml"
    file.write_text(f"sources: {{shop: {{location: 'python:{tmp_path}/data.py:X'}}}}\n", encoding="utf-8")
    with pytest.raises(SourceError, match=r"data\.py:X: the target has the type int"):
        async with CodeMode.from_config(file, strict=True):
            pass


async def test_a_secret_that_is_not_there_costs_the_calls_of_its_source_and_nothing_else(tmp_path: Path) -> None:
    missing = "base_url: 'http://127.0.0.1:1'\n    credentials: [{kind: bearer, token: {env: NO_SUCH_TOKEN}}]"
    async with CodeMode.from_config(_written(tmp_path, missing)) as service:
        assert [hit.tool.id for hit in (await service.search("list pets")).hits] == ["pets.pets.list_pets"]
        ended = await service.execute("pets.list_pets()")
        assert ended.failure is not None
        assert "the operator has not given what pets asks for; nothing was sent" in ended.failure.message
        assert "NO_SUCH_TOKEN" not in str(ended.to_json())
