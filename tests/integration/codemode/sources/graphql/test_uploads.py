"""Files as arguments of a GraphQL service, which reads them by the multipart request specification."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from starlette.applications import Starlette
from starlette.datastructures import UploadFile
from starlette.responses import JSONResponse
from starlette.routing import Route

from codemode import CodeMode
from codemode.catalog import stubs
from codemode.settings import Settings
from tests.unit.codemode.sources.served import served

if TYPE_CHECKING:
    from pathlib import Path

    from starlette.requests import Request

SDL = """
scalar Upload
input Picture { title: String! file: Upload! also: [Upload!] }
type Query { version: String! }
type Mutation {
  put(file: Upload!, note: String): String!
  many(files: [Upload!]!): String!
  show(picture: Picture!): String!
}
"""


class Service:
    """Reads uploads as graphql-upload does. `seen` has the variables, with name and content for each file."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    async def answer(self, request: Request) -> JSONResponse:
        """Answer with the names of the root fields."""
        if request.headers["content-type"].startswith("application/json"):
            body = await request.json()
            self.seen.append(body["variables"])
            return JSONResponse({"data": {"put": "json", "many": "json", "show": "json"}})
        assert request.headers["apollo-require-preflight"] == "true"
        async with request.form() as form:
            assert [*form][:2] == ["operations", "map"]
            body = json.loads(str(form["operations"]))
            for part, paths in json.loads(str(form["map"])).items():
                file = form[part]
                assert isinstance(file, UploadFile)
                for path in paths:
                    _put(body, path.split("."), [file.filename, (await file.read()).decode()])
        self.seen.append(body["variables"])
        return JSONResponse({"data": {"put": "ok", "many": "ok", "show": "ok"}})


def _put(whole: Any, path: list[str], value: Any) -> None:
    for name in path[:-1]:
        whole = whole[int(name) if isinstance(whole, list) else name]
    last = int(path[-1]) if isinstance(whole, list) else path[-1]
    assert whole[last] is None
    whole[last] = value


@pytest.mark.parametrize(
    ("code", "variables"),
    [
        ("g.mutations.put(file=f, note='x')", {"file": ["é.txt", "hello"], "note": "x"}),
        ("g.mutations.put(file='text')", {"file": ["0", "text"]}),
        ("g.mutations.many(files=[f, f])", {"files": [["é.txt", "hello"], ["é.txt", "hello"]]}),
        (
            "g.mutations.show(picture={'title': 't', 'file': f, 'also': [f]})",
            {"picture": {"title": "t", "file": ["é.txt", "hello"], "also": [["é.txt", "hello"]]}},
        ),
        ("g.mutations.many(files=[])", {"files": []}),
    ],
)
async def test_files_arrive_where_they_belong(tmp_path: Path, code: str, variables: dict[str, Any]) -> None:
    (tmp_path / "s.graphql").write_text(SDL)
    service = Service()
    app = Starlette(routes=[Route("/graphql", service.answer, methods=["POST"])])
    async with served(app) as url:
        source = {"location": str(tmp_path / "s.graphql"), "base_url": f"{url}/graphql"}
        folders = {"state_folder": str(tmp_path / "state"), "cache_folder": str(tmp_path / "cache")}
        async with CodeMode.from_settings(Settings.model_validate({"sources": {"g": source}, **folders})) as cm:
            file = await cm.keep_content(b"hello", "text/plain", "é.txt")
            outcome = await cm.execute(code, inputs={"f": file})
            shown = stubs.signature(cm.catalog.get("g.mutations.put"))
    assert outcome.value == ("json" if variables == {"files": []} else "ok"), outcome.failure
    assert service.seen == [variables]
    assert "file: Content" in shown
