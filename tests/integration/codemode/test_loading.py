"""The steps that a service reports while it loads."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING

import pytest

from codemode import CodeMode
from codemode.catalog.loading import LoadingStep, log_loading
from codemode.errors import SourceError
from codemode.gateway.caller import Caller
from codemode.settings import Settings
from tests.unit.codemode.search.embeddings_service import EmbeddingsService

if TYPE_CHECKING:
    from pathlib import Path

DOCUMENT = {
    "openapi": "3.1.0",
    "paths": {
        "/pets": {"get": {"operationId": "listPets"}},
        "/pets/{id}": {"delete": {"operationId": "deletePet"}},
    },
}


def settings(folder: Path, **more: object) -> Settings:
    (folder / "pets.json").write_text(json.dumps(DOCUMENT), encoding="utf-8")
    source = {"location": str(folder / "pets.json"), "base_url": "http://127.0.0.1:1"}
    folders = {"state_folder": str(folder / "state"), "cache_folder": str(folder / "cache")}
    return Settings.model_validate({"sources": {"pets": source}, **folders, **more})


async def test_reading_and_indexing_are_reported_in_order(tmp_path: Path) -> None:
    steps: list[LoadingStep] = []
    async with CodeMode.from_settings(settings(tmp_path), progress=steps.append):
        pass
    assert [(step.step, step.source, step.tools) for step in steps] == [
        ("reading", "pets", 0),
        ("parsing", "pets", 0),
        ("loaded", "pets", 2),
        ("indexing", "", 2),
        ("indexed", "", 2),
    ]
    assert steps[1].size_bytes == len(json.dumps(DOCUMENT))
    assert steps[2].duration_s > 0


async def test_a_source_that_cannot_be_read_ends_as_failed(tmp_path: Path) -> None:
    steps: list[LoadingStep] = []
    wrong = settings(tmp_path)
    (tmp_path / "pets.json").unlink()
    with pytest.raises(SourceError):
        async with CodeMode.from_settings(wrong, strict=True, progress=steps.append):
            pass
    assert [step.step for step in steps] == ["reading", "failed"]


async def test_embedding_is_reported_after_each_batch(tmp_path: Path) -> None:
    model = EmbeddingsService()
    steps: list[LoadingStep] = []
    embeddings = {"kind": "openai", "model": "topics", "base_url": model.base_url, "batch": 1}
    given = settings(tmp_path, search={"embeddings": embeddings})
    async with CodeMode.from_settings(given, progress=steps.append) as service:
        await service.discovery.settle_search((), 20)
    model.close()
    assert [(step.step, step.done, step.tools) for step in steps[5:]] == [
        ("embedding", 0, 2),
        ("embedding", 1, 2),
        ("embedded", 2, 2),
    ]


async def test_the_index_of_a_role_is_not_reported(tmp_path: Path) -> None:
    steps: list[LoadingStep] = []
    rules = [{"tools": "pets.pets.delete*", "roles": "guest", "decision": "deny"}]
    given = settings(tmp_path, policy={"roles": ["guest"], "rules": rules})
    async with CodeMode.from_settings(given, progress=steps.append) as service:
        before = len(steps)
        assert len((await service.view(Caller("ann", "guest"))).catalog) == 1
        assert len(steps) == before


async def test_a_service_logs_what_it_loads(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "codemode.catalog.loading")
    async with CodeMode.from_settings(settings(tmp_path)):
        pass
    records = [vars(record) for record in caplog.records if record.name == "codemode.catalog.loading"]
    assert [record["message"] for record in records] == ["document read", "source loaded", "tools indexed"]
    assert records[0]["bytes"] == len(json.dumps(DOCUMENT))
    assert (records[1]["source"], records[1]["tools"]) == ("pets", 2)


def test_a_failure_is_logged_as_one(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "codemode.catalog.loading")
    log_loading(LoadingStep("failed", "pets", duration_s=1.5))
    assert [(vars(record)["message"], vars(record)["seconds"]) for record in caplog.records] == [("source failed", 1.5)]
