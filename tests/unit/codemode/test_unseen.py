"""Nothing that a reader cannot see goes from a document to a model."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from codemode import CodeMode
from codemode.model.outcome_text import outcome_data, outcome_text
from codemode.settings import Settings

if TYPE_CHECKING:
    from pathlib import Path

BAD = "\x1b[31m\u202e\u2066\U000e0041\u200b\x00"
UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2060-\u206f\U000e0000-\U000e007f]")

PARAMETERS = [
    {
        "name": f"kind{BAD}",
        "in": "query",
        "required": True,
        "description": f"Which kind{BAD}.",
        "example": f"one{BAD}",
        "schema": {"type": "string", "enum": [f"one{BAD}", f"two{BAD}"]},
    },
    {"name": "shade", "in": "query", "schema": {"type": "string", "default": f"dark{BAD}", "pattern": f"a{BAD}"}},
    {"name": "size", "in": "query", "schema": {"$ref": f"#/components/schemas/Size{BAD}"}},
]
DOCUMENT: dict[str, Any] = {
    "openapi": "3.1.0",
    "info": {"title": f"Lamps{BAD}", "version": "1"},
    "components": {
        "schemas": {
            f"Size{BAD}": {"type": "object", "title": f"Size{BAD}", "properties": {f"w{BAD}": {"type": "string"}}}
        }
    },
    "paths": {
        f"/lamps/{name}{BAD}": {
            "get": {
                "operationId": f"{name}Lamp{BAD}",
                "tags": [f"lamps{BAD}"],
                "summary": f"{name} a lamp{BAD}",
                "description": f"{name} a lamp{BAD} in the hall. {BAD}",
                "parameters": PARAMETERS,
                "responses": {
                    "200": {
                        "description": f"Fine{BAD}",
                        "content": {
                            "application/json": {"schema": {"$ref": f"#/components/schemas/Size{BAD}"}},
                        },
                    }
                },
            }
        }
        for name in ("light", "dim", "find")
    },
}


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    (tmp_path / "lamps.json").write_text(json.dumps(DOCUMENT))
    source = {
        "location": str(tmp_path / "lamps.json"),
        "base_url": "http://127.0.0.1:1",
        "instructions": f"Be careful{BAD}.",
        "examples": {"light*": [f"home.x(kind='{BAD}')"]},
    }
    folders = {"state_folder": tmp_path / "state", "cache_folder": tmp_path / "cache"}
    return Settings.model_validate({"sources": {"home": source}, **folders})


async def test_no_face_shows_a_model_what_cannot_be_seen(settings: Settings) -> None:
    async with CodeMode.from_settings(settings) as service:
        lamp = next(tool for tool in service.catalog if "light" in tool.id)
        told: list[str] = []
        for detail in ("auto", "full"):
            for query in ("light a lamp", lamp.id, f"nothing{BAD}", f"xqxq{BAD}"):
                answer = await service.search(query, detail=detail)
                told += [answer.text, json.dumps(answer.to_json(), ensure_ascii=False)]
        told += [await service.describe(name) for name in ("", "home", lamp.id)]
        told += [json.dumps(await service.definitions(), ensure_ascii=False)]
        for code in (
            f"{lamp.id}(kinds=1)",
            f"{lamp.id}({lamp.parameter_names[0]}='three')",
            f"{lamp.id}s()",
            f"{lamp.id}({lamp.parameter_names[0]}=1, shade=2)",
        ):
            ended = await service.execute(code)
            assert not ended.ok
            told += [outcome_text(ended), json.dumps(outcome_data(ended), ensure_ascii=False, default=str)]

    assert "\\u202e" in "".join(told)
    assert [text for text in told if UNSEEN.search(text)] == []
