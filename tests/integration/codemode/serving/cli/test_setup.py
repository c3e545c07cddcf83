"""`codemode init` and `codemode doctor`, as a newcomer runs them."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from codemode.serving.cli.first_configuration import documents_below, name_of_title
from codemode.settings import load_settings
from codemode.settings.schema import shipped
from tests.command_line import SCRIPT, codemode, script_environment

if TYPE_CHECKING:
    from tests.conftest import Gym


def findings(*arguments: str, folder: Path, **environment: str) -> dict[str, Any]:
    ended = codemode("doctor", "--json", *arguments, folder=folder, **environment)
    return {f"{one['area']}: {one['subject']}": one for one in json.loads(ended.stdout)} | {"": ended.returncode}


@pytest.fixture
def folder(gym: Gym, tmp_path: Path) -> Path:
    (tmp_path / "shop").mkdir()
    shutil.copy(gym.document, tmp_path / "shop" / "openapi.yaml")
    return tmp_path


def test_init_finds_documents_and_writes_what_they_say(folder: Path) -> None:
    ended = codemode("init", folder=folder)
    assert ended.returncode == 0, ended.stderr
    source = load_settings(folder / "codemode.yaml").sources["shop"]
    assert (Path(source.location).name, source.base_url) == ("openapi.yaml", "http://127.0.0.1:8137")
    assert source.credentials == ()
    text = (folder / "codemode.yaml").read_text(encoding="utf-8")
    assert "set SHOP_BEARER and uncomment:" in text


def test_a_document_without_a_name_of_its_own_is_named_by_its_title(gym: Gym, tmp_path: Path) -> None:
    shutil.copy(gym.document, tmp_path / "openapi.yaml")
    ended = codemode("init", "--json", folder=tmp_path)
    assert [one["name"] for one in json.loads(ended.stdout)] == ["gym_back_office"]
    assert list(load_settings(tmp_path / "codemode.yaml").sources) == ["gym_back_office"]


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("GitHub v3 REST API", "github"),
        ("The weather.gov API", "weather_gov"),
        ("Swagger Petstore - OpenAPI 3.0", "petstore"),
        ("API", ""),
        ("Интерфейс", ""),
    ],
)
def test_the_words_of_a_title_that_say_which_api_it_is_are_a_name(title: str, name: str) -> None:
    assert name_of_title(title) == name


def test_init_writes_the_schema_beside_the_file_for_editors(folder: Path) -> None:
    codemode("init", folder=folder)
    text = (folder / "codemode.yaml").read_text(encoding="utf-8")
    first, _, name = text.splitlines()[0].partition("$schema=")
    assert first == "# yaml-language-server: "
    schema = json.loads((folder / name).read_text(encoding="utf-8"))
    assert schema == json.loads(shipped())
    Draft202012Validator(schema).validate(yaml.safe_load(text))
    assert documents_below(folder) == [folder / "shop" / "openapi.yaml"]


def test_credentials_whose_variable_is_set_are_written_ready_for_use(folder: Path) -> None:
    codemode("init", folder=folder, SHOP_BEARER="a-token")
    (credential,) = load_settings(folder / "codemode.yaml").sources["shop"].credentials
    assert credential.kind == "bearer"
    assert "a-token" not in (folder / "codemode.yaml").read_text(encoding="utf-8")


def test_every_commented_default_is_valid_when_its_mark_is_taken_away(folder: Path) -> None:
    codemode("init", folder=folder)
    file = folder / "codemode.yaml"
    lines = file.read_text(encoding="utf-8").splitlines()
    keys = [
        line.removeprefix("# ") if line.rstrip().endswith(":") or line.startswith("#   ") else line for line in lines
    ]
    file.write_text("\n".join(keys), encoding="utf-8")
    assert {"sources", "limits", "sandbox", "search", "server"} <= set(yaml.safe_load("\n".join(keys)))
    load_settings(file)


def test_init_leaves_out_what_it_found_and_cannot_read(folder: Path) -> None:
    (folder / "broken-openapi.json").write_text('{"openapi": "3.1.0", "paths": []}', encoding="utf-8")
    ended = codemode("init", folder=folder)
    assert ended.returncode == 0, ended.stderr
    assert "broken-openapi.json /paths: `paths` is not a mapping" in ended.stderr
    assert "broken" not in (folder / "codemode.yaml").read_text(encoding="utf-8")
    given = codemode("init", "--force", "broken-openapi.json", folder=folder)
    assert given.returncode == 3


def test_init_replaces_nothing_unless_it_is_told_to(folder: Path) -> None:
    (folder / "codemode.yaml").write_text("mine", encoding="utf-8")
    refused = codemode("init", folder=folder)
    assert (refused.returncode, "--force" in refused.stderr) == (2, True)
    assert (folder / "codemode.yaml").read_text(encoding="utf-8") == "mine"
    assert codemode("init", "--force", folder=folder).returncode == 0


def test_init_in_an_empty_folder_says_what_it_needs(tmp_path: Path) -> None:
    ended = codemode("init", folder=tmp_path)
    assert (ended.returncode, "codemode init FILE_OR_URL" in ended.stderr) == (2, True)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("gym.json", '{"info": {"title": "t", "version": "1"}, "openapi": "3.1.0", "paths": {}}'),
        ("Gym.YML", "# ours\nswagger: '2.0'\ninfo: {title: t, version: '1'}\npaths: {}\n"),
        ("gym.yaml", "info: {title: t, version: '1'}\nopenapi: 3.0.3\npaths: {}\n"),
        (
            "sorted.yaml",
            f"---\n# ours\ncomponents:\n  schemas: {{A: {{title: {'x' * 9999}}}}}\nopenapi: 3.0.3\npaths: {{}}\n",
        ),
        ("sorted.json", f'{{\n "components": {{"x-notes": "{"x" * 9999}"}},\n "openapi": "3.0.3", "paths": {{}}}}'),
    ],
)
def test_a_document_is_known_by_how_it_begins(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    (tmp_path / "package.json").write_text('{"name": "x", "dependencies": {"openapi-typescript": "7.0"}}')
    (tmp_path / "other.yaml").write_text("about: 'the key openapi: 3 in a text'\n")
    (tmp_path / "later.yaml").write_text(f"notes: {'x' * 9999}\nopenapi: 3.0.3\n")
    (tmp_path / "none.json").write_text('{"components": {"button": {}}}')
    assert documents_below(tmp_path) == [tmp_path / name]


def test_init_names_each_document_once(folder: Path) -> None:
    document = str(folder / "shop" / "openapi.yaml")
    ended = codemode("init", document, document, "--json", folder=folder)
    assert [one["name"] for one in json.loads(ended.stdout)] == ["shop", "shop2"]


def test_doctor_finds_all_well(folder: Path) -> None:
    codemode("init", folder=folder, SHOP_BEARER="a-token")
    with (folder / "codemode.yaml").open("a", encoding="utf-8") as file:
        file.write("server: {port: 0, keys: [{env: KEY}]}\npolicy: {default: {write: ask}}\n")
    found = findings("--strict", folder=folder, KEY="a-key-for-tests", SHOP_BEARER="a-token")
    assert {one["state"] for one in found.values() if isinstance(one, dict)} == {"ok"}, found
    assert found["isolation: seccomp"]["found"] == "in force"
    assert found["sources: shop"]["found"] == "137 tools"
    assert found["secrets: server.keys.0.secret"]["found"] == "present"
    assert found[""] == 0


def test_doctor_loads_the_plugins(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    info = folder / "hours-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: hours\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text("[codemode.plugins]\nhours = no_such_module:Hours\n", encoding="utf-8")
    monkeypatch.syspath_prepend(folder)
    (folder / "codemode.yaml").write_text(
        "sources: {shop: {location: shop/openapi.yaml}}\nplugins: [hours]\n", encoding="utf-8"
    )
    found = findings(folder=folder)["plugins: hours"]
    assert (found["state"], "no_such_module" in found["found"]) == ("failure", True)


def test_doctor_counts_the_keys_that_were_made(folder: Path) -> None:
    (folder / "codemode.yaml").write_text(
        f"sources: {{shop: {{location: shop/openapi.yaml}}}}\nstate_folder: {folder}/state\n", encoding="utf-8"
    )
    made = codemode("keys", "create", "--json", folder=folder)
    assert findings(folder=folder)["server: keys"]["found"] == "1 made with `codemode keys`"
    codemode("keys", "revoke", json.loads(made.stdout)["id"], folder=folder)
    none = findings(folder=folder)["server: keys"]
    assert (none["state"], none["found"]) == ("warning", "all revoked or expired: every request is rejected")


def test_doctor_sees_a_full_disk(folder: Path) -> None:
    codemode("init", folder=folder)
    limited = ["prlimit", f"--fsize={4096}", SCRIPT, "doctor", "--json"]
    environment = script_environment(folder) | {"PYTHONDONTWRITEBYTECODE": "1"}
    ended = subprocess.run(limited, cwd=folder, env=environment, capture_output=True, text=True)
    states = {one["subject"]: one for one in json.loads(ended.stdout) if one["area"] == "folders"}
    assert (ended.returncode, states["state"]["state"]) == (1, "failure")
    assert states["state"]["fix"] == "free disk space, or set state_folder"


def test_doctor_names_each_thing_that_is_wrong_and_its_fix(folder: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        (folder / "codemode.yaml").write_text(
            f"""
sources:
  api:
    location: shop/openapi.yaml
    credentials: [{{kind: bearer, token: {{env: NO_SUCH_VARIABLE}}}}]
  gone: {{location: gone.yaml}}
state_folder: /proc/no-such-folder
server: {{port: {listener.getsockname()[1]}}}
""",
            encoding="utf-8",
        )
        found = findings(folder=folder)
    failures = {name for name, one in found.items() if isinstance(one, dict) and one["state"] == "failure"}
    assert failures == {
        "secrets: sources.api.credentials.0.token",
        "sources: gone",
        "sources: api address",
        "folders: state",
        "server: port",
        "verdict: not ready",
    }
    assert found["verdict: not ready"]["found"].startswith("5 failed: secrets sources.api.credentials.0.token, ")
    assert all(found[name]["fix"] for name in failures)
    assert "NO_SUCH_VARIABLE" in found["secrets: sources.api.credentials.0.token"]["found"]
    assert found["server: keys"]["state"] == "warning"
    assert found[""] == 1


def test_doctor_looks_at_the_sandbox_without_a_valid_configuration_too(tmp_path: Path) -> None:
    (tmp_path / "codemode.yaml").write_text("sorces: {}\n", encoding="utf-8")
    found = findings(folder=tmp_path)
    assert "did you mean 'sources'" in found["configuration: file"]["found"]
    assert found["isolation: fork_server"]["state"] == "ok"
    assert found[""] == 1


PREDICTED = {
    "openapi": "3.1.0",
    "components": {"securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}}},
    "paths": {
        "/items": {"get": {"operationId": "listItems", "security": [{"key": []}]}},
        "/items/reset": {"post": {"operationId": "resetItems", "summary": "Reset the database", "security": []}},
    },
}


def test_doctor_predicts_what_calls_will_meet(tmp_path: Path) -> None:
    (tmp_path / "api.json").write_text(json.dumps(PREDICTED), encoding="utf-8")
    (tmp_path / "codemode.yaml").write_text(
        """
sources:
  json: {location: api.json}
  api:
    location: api.json
    base_url: http://127.0.0.1:1
    credentials: [{kind: api_key, name: X-Other, value: {env: KEY}}]
    effect: {items.reset_items: write}
""",
        encoding="utf-8",
    )
    found = findings(folder=tmp_path, KEY="x")
    assert "has the name of a Python module" in found["sources: json name"]["found"]
    assert found["sources: json address"]["state"] == "failure"
    assert "1 of 2 operations" in found["sources: api credentials"]["found"]
    assert "no operation uses this api_key" in found["sources: api credentials.0"]["found"]
    assert "reset" in found["sources: api effects"]["found"]
    assert found[""] == 1


@pytest.mark.parametrize(
    ("index", "state", "found"),
    [({"name": "codemode"}, "ok", "a codemode server listens on"), ({"name": "other"}, "failure", "")],
)
def test_doctor_knows_the_server_that_listens_on_the_port(
    folder: Path, index: dict[str, str], state: str, found: str
) -> None:
    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            self.wfile.write(json.dumps(index).encode())

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

    with HTTPServer(("127.0.0.1", 0), Answers) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        (folder / "codemode.yaml").write_text(
            f"sources: {{shop: {{location: shop/openapi.yaml}}}}\nserver: {{port: {server.server_port}}}\n"
        )
        port = findings(folder=folder)["server: port"]
        server.shutdown()
    assert port["state"] == state
    assert found in port["found"]


def test_doctor_folds_what_is_fine_and_shows_each_warning(folder: Path) -> None:
    codemode("init", folder=folder)
    ended = codemode("doctor", folder=folder, COLUMNS="200")
    lines = ended.stdout.splitlines()
    assert sum(" versions" in line for line in lines) == 1
    assert any(" isolation " in line and "checks are fine" in line for line in lines)
    assert any(line.startswith("warning") and "server: keys" in line for line in lines)


def test_sources_list_counts_the_warnings_that_check_lists(folder: Path) -> None:
    document = {
        "openapi": "3.1.0",
        "info": {"title": "Things", "version": "1"},
        "paths": {
            "/things": {"get": {"operationId": "x", "responses": {"200": {"$ref": "#/components/responses/No"}}}}
        },
    }
    (folder / "things.json").write_text(json.dumps(document))
    (folder / "codemode.yaml").write_text("sources: {things: {location: things.json}}\n")
    (listed,) = json.loads(codemode("sources", "list", "--json", folder=folder).stdout)
    checked = json.loads(codemode("sources", "check", "--json", folder=folder).stdout)
    assert listed["warnings"] == len(checked["things"]["warnings"]) > 0
