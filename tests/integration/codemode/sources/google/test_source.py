"""Google's discovery documents: those of the installed client, a file, a URL; called over loopback."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import googleapiclient
import pytest
from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from typer.testing import CliRunner

from codemode import CodeMode, ConfigurationError, SourceError
from codemode.catalog import stubs
from codemode.serving.cli.sources import app
from codemode.settings import Settings, SourceSettings, load_settings
from codemode.sources.openapi.discovery import as_openapi
from codemode.sources.openapi.document import load_openapi
from tests.unit.codemode.sources.served import served

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

    from starlette.requests import Request

    from codemode.executions.types.outcome import ExecutionOutcome

DOCUMENTS = Path(googleapiclient.__file__).parent / "discovery_cache" / "documents"

OWN = {
    "kind": "discovery#restDescription",
    "name": "jobs",
    "version": "v1",
    "title": "Jobs",
    "rootUrl": "https://jobs.example.com/",
    "servicePath": "",
    "parameters": {"fields": {"type": "string", "location": "query"}, "alt": {"type": "string", "location": "query"}},
    "schemas": {
        "Job": {
            "id": "Job",
            "type": "object",
            "properties": {
                "name": {"type": "string", "required": True},
                "size": {"type": "string", "format": "int64"},
                "tries": {"type": "integer", "format": "int32", "default": "3"},
                "parent": {"$ref": "Job", "description": "Another."},
                "labels": {"type": "object", "additionalProperties": {"type": "any"}},
            },
        }
    },
    "resources": {
        "projects": {
            "resources": {
                "jobs": {
                    "methods": {
                        "create": {
                            "id": "jobs.projects.jobs.create",
                            "path": "v1/{+parent}/jobs",
                            "httpMethod": "POST",
                            "description": "Create a job.",
                            "parameters": {
                                "parent": {
                                    "type": "string",
                                    "location": "path",
                                    "required": True,
                                    "pattern": "^projects/[^/]+$",
                                },
                                "labels": {"type": "string", "location": "query", "repeated": True},
                                "dryRun": {"type": "boolean", "location": "query", "default": "false"},
                            },
                            "request": {"$ref": "Job"},
                            "response": {"$ref": "Job"},
                            "scopes": ["https://www.example.com/auth/jobs"],
                        },
                        "cancel": {
                            "id": "jobs.projects.jobs.cancel",
                            "path": "v1/{+name}:cancel",
                            "httpMethod": "POST",
                            "parameters": {"name": {"type": "string", "location": "path", "required": True}},
                        },
                        "get": {
                            "id": "jobs.projects.jobs.get",
                            "path": "v1/{+name}",
                            "httpMethod": "GET",
                            "parameters": {"name": {"type": "string", "location": "path", "required": True}},
                        },
                    }
                },
                "runs": {
                    "methods": {
                        "get": {
                            "id": "jobs.projects.runs.get",
                            "path": "v1/{+name}",
                            "httpMethod": "GET",
                            "parameters": {"name": {"type": "string", "location": "path", "required": True}},
                        }
                    }
                },
            }
        }
    },
}


async def answer(request: Request) -> Response:
    """Pages of files, a download, and whatever else was sent."""
    if request.url.path == "/drive/v3/files" and request.method == "GET":
        start = int(request.query_params.get("pageToken", "0"))
        following = {"nextPageToken": str(start + 2)} if start < 4 else {}
        return JSONResponse({"files": [{"id": str(number)} for number in (start, start + 1)], **following})
    if request.query_params.get("alt") == "media":
        return Response(b"\x00\x01", media_type="image/png")
    if request.url.path == "/drive/v3/files/gone":
        return JSONResponse({"error": {"code": 404, "message": "File not found: gone."}}, 404)
    sent = {
        "method": request.method,
        "path": request.url.path,
        "query": request.url.query,
        "body": (await request.body()).decode("latin-1"),
        "type": request.headers.get("content-type"),
        "authorization": request.headers.get("authorization"),
    }
    return JSONResponse(sent)


@pytest.fixture
async def google() -> AsyncIterator[str]:
    """The address of the service."""
    methods = ["GET", "POST", "PUT", "PATCH", "DELETE"]
    async with served(Starlette(routes=[Route("/{path:path}", answer, methods=methods)])) as url:
        yield url


@pytest.fixture
def settings(tmp_path: Path) -> Callable[..., Settings]:
    (tmp_path / "token").write_text("a-secret-token")
    (tmp_path / "jobs.json").write_text(json.dumps(OWN))
    credentials = [{"kind": "bearer", "token": {"file": str(tmp_path / "token")}}]

    def made(**source: Any) -> Settings:
        folders = {"state_folder": tmp_path / "state", "cache_folder": tmp_path / "cache"}
        return Settings.model_validate({"sources": {"drive": {"credentials": credentials, **source}}, **folders})

    return made


def message(outcome: ExecutionOutcome) -> str:
    assert outcome.failure is not None
    return outcome.failure.message


async def test_an_installed_document_becomes_tools_that_are_called(
    google: str, settings: Callable[..., Settings]
) -> None:
    async with CodeMode.from_settings(settings(kind="google", services=["drive:v3"], base_url=google)) as service:
        assert service.sources["drive"].surface.title == "Google Drive API"
        assert str(service.catalog.get("drive.files.list").effect) == "read"
        assert str(service.catalog.get("drive.files.delete").effect) == "destructive"
        assert stubs.signature(service.catalog.get("drive.files.update")).startswith(
            "drive.files.update(*, fileId: str"
        )
        assert (await service.execute("[f['id'] for f in drive.files.list.items()]")).value == list("012345")
        sent = await service.execute("drive.files.update(fileId='a b', name='x', fields='id')")
        assert isinstance(sent.value, dict)
        assert (sent.value["method"], sent.value["path"], sent.value["query"]) == (
            "PATCH",
            "/drive/v3/files/a b",
            "fields=id",
        )
        assert (sent.value["body"], sent.value["authorization"]) == ('{"name":"x"}', "Bearer [redacted]")
        assert "File not found: gone." in message(await service.execute("drive.files.get(fileId='gone')"))


async def test_content_is_downloaded_and_uploaded(google: str, settings: Callable[..., Settings]) -> None:
    async with CodeMode.from_settings(settings(kind="google", services=["drive:v3"], base_url=google)) as service:
        code = """
picture = drive.files.get(fileId="p", alt="media")
sent = drive.files.create_media(body=picture)
picture["media_type"], picture["size_bytes"], sent["path"], sent["query"], sent["body"], sent["type"]
"""
        assert (await service.execute(code)).value == [
            "image/png",
            2,
            "/upload/drive/v3/files",
            "uploadType=media",
            "\x00\x01",
            "image/png",
        ]


async def test_a_name_of_several_segments_is_sent_as_it_is_and_leads_nowhere_else(
    google: str, settings: Callable[..., Settings], tmp_path: Path
) -> None:
    async with CodeMode.from_settings(settings(location=str(tmp_path / "jobs.json"), base_url=google)) as service:
        ids = [tool.id for tool in service.catalog]
        assert ids == [f"drive.projects.{name}" for name in ("jobs.cancel", "jobs.create", "jobs.get", "runs.get")]
        create = stubs.signature(service.catalog.get("drive.projects.jobs.create"))
        assert "parent: str" in create
        assert "dryRun: bool = False" in create
        assert "size: str | int | None" in create
        code = "j = drive.projects.jobs\n[call(name='projects/p/jobs/7')['path'] for call in (j.get, j.cancel)]"
        assert (await service.execute(code)).value == ["/v1/projects/p/jobs/7", "/v1/projects/p/jobs/7:cancel"]
        made = await service.execute(
            "j = drive.projects.jobs.create(parent='projects/p', name='n', labels=['a', 'b'])\nj"
        )
        assert isinstance(made.value, dict)
        assert (made.value["path"], made.value["query"]) == ("/v1/projects/p/jobs", "labels=a&labels=b")
        for name in ("projects/../secrets", "projects//p", "../x", "projects/%2e%2e/x", "/p"):
            refused = await service.execute(f"drive.projects.jobs.get(name={name!r})")
            assert "path segment" in message(refused), name
        sent = await service.execute("drive.projects.jobs.get(name='projects/p?x=1#y')['path']")
        assert sent.value == "/v1/projects/p%3Fx=1%23y"
        assert "does not match" in message(await service.execute("drive.projects.jobs.create(parent='p', name='n')"))


async def test_without_credentials_what_to_write_is_said(google: str, settings: Callable[..., Settings]) -> None:
    wanted = settings(kind="google", services=["drive:v3"], base_url=google, credentials=[])
    async with CodeMode.from_settings(wanted) as service:
        assert "has not configured the credentials that drive requires here (oauth2, or key)" in message(
            await service.execute("drive.about.get(fields='user')")
        )


async def test_where_it_is_reached_is_what_googles_package_says(settings: Callable[..., Settings]) -> None:
    async with CodeMode.from_settings(settings(kind="google", services=["drive:v3"])) as service:
        assert service.sources["drive"].surface.servers == ("https://www.googleapis.com",)


@pytest.mark.parametrize(
    ("service", "said"),
    [("drive:v4", r"has no API 'drive:v4'; did you mean 'drive:v[23]'"), ("../drive", "has no API")],
)
async def test_an_api_that_there_is_not_is_a_mistake(
    settings: Callable[..., Settings], service: str, said: str
) -> None:
    with pytest.raises(ConfigurationError, match=rf"sources\.drive\.services: .*{said}"):
        await CodeMode.from_settings(settings(kind="google", services=[service]), strict=True).__aenter__()


def test_one_api_is_one_source() -> None:
    with pytest.raises(ValidationError, match="kind: google needs exactly one service"):
        SourceSettings(kind="google", services=("drive:v3", "gmail:v1"))


@pytest.mark.parametrize("name", ["compute.v1", "gmail.v1", "run.v2", "bigquery.v2", "youtube.v3", "sheets.v4"])
def test_published_documents_are_read_whole(name: str) -> None:
    document = json.loads((DOCUMENTS / f"{name}.json").read_text(encoding="utf-8"))
    surface = load_openapi(as_openapi(document), name="api")
    assert surface.warnings == ()
    assert len(surface.tools) >= str(document).count("'httpMethod'")
    for tool in surface.tools:
        assert stubs.signature(tool).startswith(f"{tool.id}(")


def test_a_document_that_is_broken_anywhere_is_no_error_of_ours() -> None:
    """Every place in turn is something else: it is read, what is wrong is a warning, or it is said to be none."""
    whole = json.loads(json.dumps(OWN))
    others: tuple[Any, ...] = (None, 3, "x", [], {})
    for holder, key in list(_places(whole)):
        for wrong in others:
            before, holder[key] = holder[key], wrong
            try:
                for tool in load_openapi(as_openapi(whole), name="api").tools:
                    assert stubs.signature(tool), key
            except SourceError:
                pass
            holder[key] = before


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
        yield value, key
        if isinstance(inner, (dict, list)):
            yield from _places(inner)


async def test_who_has_no_client_is_told_the_extra(
    settings: Callable[..., Settings], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "codemode.sources.google.source", raising=False)
    monkeypatch.setitem(sys.modules, "googleapiclient", None)
    with pytest.raises(ConfigurationError, match=r"kind: google cannot be used: .*pip install 'codemode\[google\]'"):
        await CodeMode.from_settings(settings(kind="google", services=["drive:v3"]), strict=True).__aenter__()


async def test_sources_add_reads_a_document_at_a_url(tmp_path: Path) -> None:
    async def document(_: Request) -> JSONResponse:
        return JSONResponse(OWN)

    async with served(Starlette(routes=[Route("/discovery", document)])) as url:
        arguments = ["add", "jobs", f"{url}/discovery", "--config", str(tmp_path / "codemode.yaml")]
        added = await asyncio.to_thread(CliRunner().invoke, app, arguments)
    assert added.exit_code == 0, added.output
    assert "4 operations (2 write, 2 read)" in added.output
    assert load_settings(tmp_path / "codemode.yaml").sources["jobs"].base_url == "https://jobs.example.com"
