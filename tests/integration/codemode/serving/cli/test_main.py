"""The commands, run in this process; where the process itself is tested, the console script is run."""

from __future__ import annotations

import json
import signal
import subprocess
from importlib.metadata import version
from typing import TYPE_CHECKING

import httpx2
import pytest

from tests.command_line import SCRIPT, Ended, codemode, script, script_environment
from tests.terminal import Terminal
from tests.unit.codemode.search.embeddings_service import EmbeddingsService

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.conftest import Gym


@pytest.fixture(scope="module", autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What commands keep for a user is kept for these tests alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(tmp_path_factory.mktemp("home")))
        yield


def on(gym: Gym) -> list[str]:
    return ["--source", str(gym.document), "--base-url", gym.url, "--bearer-env", "GYM_TOKEN"]


def test_search_prints_signatures_that_can_be_called(gym: Gym) -> None:
    ended = codemode("search", "freeze a membership", "--source", str(gym.document))
    assert ended.returncode == 0, ended.stderr
    introduction, first = ended.stdout.splitlines()[:2]
    assert introduction.startswith("# gym: Money is in minor units")
    assert first.startswith("gym.memberships.freeze_membership(")


def test_search_on_a_terminal_ends_with_how_to_ask_why(gym: Gym, tmp_path: Path) -> None:
    words = ("search", "freeze a membership", "--source", str(gym.document))
    terminal = Terminal(tmp_path, *words)
    assert terminal.close() == 0
    assert terminal.shown.split("\r\n")[-2].endswith("why these tools: the same command with --why\x1b[0m")
    assert "--why" not in codemode(*words).stdout


def test_search_for_nothing_known_says_so_with_exit_code_1(gym: Gym) -> None:
    ended = codemode("search", "qqqq zzzz", "--source", str(gym.document))
    assert ended.returncode == 1
    assert "no tool matches 'qqqq zzzz'" in ended.stdout


def test_an_argument_that_is_no_text_is_searched_for_as_far_as_it_is(gym: Gym) -> None:
    ended = script("search", "freeze a membership \udcff", "--source", str(gym.document))  # the byte FF
    assert (ended.returncode, ended.stderr) == (0, "")
    introduction, first = ended.stdout.splitlines()[:2]
    assert introduction.startswith("# gym: Money is in minor units")
    assert first.startswith("gym.memberships.freeze_membership(")


def test_search_takes_filters_and_pages(gym: Gym) -> None:
    searched = ["search", "member", "--source", str(gym.document), "--json", "--limit", "2"]
    ended = codemode(*searched, "--effect", "destructive")
    first = json.loads(ended.stdout)
    second = json.loads(codemode(*searched, "--effect", "destructive", "--offset", "2").stdout)
    ids = [hit["id"] for hit in (*first["hits"], *second["hits"])]
    assert len(set(ids)) == 4
    assert {hit["effect"] for hit in first["hits"]} == {"destructive"}
    assert first["total"] == second["total"] > 4
    assert all(hit["matched"] and hit["score"] for hit in first["hits"])
    ended = codemode(*searched, "--tag", "membershps")
    assert ended.returncode == 0
    assert "# no tool has the tag 'membershps'; nearest: memberships. Searched without it:" in ended.stdout


@pytest.fixture
def embeddings_service() -> Iterator[EmbeddingsService]:
    running = EmbeddingsService()
    yield running
    running.close()


def test_embeddings_are_made_on_demand_and_used_from_then_on(
    gym: Gym, tmp_path: Path, embeddings_service: EmbeddingsService
) -> None:
    service = embeddings_service
    config = tmp_path / "codemode.yaml"
    config.write_text(
        f"sources: {{gym: {{location: {gym.document}, credentials: [{{kind: none}}]}}}}\n"
        f"search: {{embeddings: {{kind: openai, model: m, base_url: {service.base_url}, api_key: {{env: KEY}}}}}}\n"
        f"state_folder: {tmp_path}/state\ncache_folder: {tmp_path}/cache\n"
    )
    made = codemode("measure", "embeddings", "--config", str(config), KEY="a-key-of-mine")
    assert made.returncode == 0, made.stderr
    assert "137 tools are embedded" in made.stdout
    asked = len(service.asked)
    found = json.loads(codemode("search", "velomobile", "--config", str(config), "--json", KEY="a-key-of-mine").stdout)
    assert found["note"] == ""
    assert service.asked[asked:] == [["list"], ["velomobile"]]
    service.misbehave = lambda *_: (401, {}, b"wrong key: a-key-of-mine")
    refused = codemode("measure", "embeddings", "--config", str(config), KEY="a-key-of-mine")
    assert refused.returncode == 1
    assert "answered 401; look at search.embeddings.api_key" in refused.stdout
    assert "a-key-of-mine" not in refused.stdout + refused.stderr
    config.write_text(f"sources: {{gym: {{location: {gym.document}, credentials: [{{kind: none}}]}}}}\n")
    none = codemode("measure", "embeddings", "--config", str(config))
    assert none.returncode == 2
    assert "search.embeddings is not configured" in none.stderr


def test_run_reads_a_program_from_standard_input(gym: Gym) -> None:
    ended = script(
        "run", "-", "--json", *on(gym), stdin="gym.core.get_gym_info()['name']", GYM_TOKEN="a-token-for-tests"
    )
    assert ended.returncode == 0, ended.stderr
    assert json.loads(ended.stdout)["status"] == "completed"


def test_whoever_has_the_file_acts_in_any_role_of_it(gym: Gym, tmp_path: Path) -> None:
    config = tmp_path / "codemode.yaml"
    config.write_text(
        f"sources: {{gym: {{location: {gym.document}, base_url: {gym.url}, "
        f"credentials: [{{kind: bearer, token: {{file: {gym.token_file}}}}}]}}}}\n"
        "policy:\n  roles: [support]\n  rules: [{tools: 'gym.salary.*', roles: support, decision: deny}]\n"
        f"state_folder: {tmp_path}/state\ncache_folder: {tmp_path}/cache\n"
    )
    program = "gym.salary.get_pending_salaries()"
    given = ["--config", str(config)]
    assert codemode("run", "-", *given, stdin=program).returncode == 0
    refused = codemode("run", "-", "--role", "support", *given, stdin=program)
    assert refused.returncode == 1
    assert "there is no tool 'gym.salary.get_pending_salaries'" in refused.stderr
    assert "salary" in codemode("search", "pending salaries", *given).stdout
    assert "gym.salary" not in codemode("search", "pending salaries", "--role", "support", *given).stdout
    assert "gym.salary" not in codemode("tools", "--role", "support", *given).stdout
    unknown = codemode("tools", "--role", "suport", *given)
    assert (unknown.returncode, "there is no role 'suport'; valid: default, support" in unknown.stderr) == (2, True)


def test_a_program_that_fails_is_exit_code_1_and_says_where(gym: Gym, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("x = 1\nx / 0\n", encoding="utf-8")
    ended = codemode("run", str(program), *on(gym), GYM_TOKEN="a-token-for-tests")
    assert ended.returncode == 1
    assert "ZeroDivisionError: division by zero (line 2)" in ended.stderr
    assert ended.stdout == ""


def test_run_prints_the_value_alone_where_standard_output_is_no_terminal(gym: Gym) -> None:
    program = "print('looked')\ngym.core.get_gym_info()"
    ended = codemode("run", "-", *on(gym), stdin=program, GYM_TOKEN="a-token-for-tests")
    assert isinstance(json.loads(ended.stdout), dict)
    assert "output: looked" in ended.stderr
    assert "gym.core.get_gym_info()" in ended.stderr
    assert "result: " not in ended.stderr


def test_run_writes_the_outcome_as_a_page(gym: Gym, tmp_path: Path) -> None:
    page = tmp_path / "outcome.html"
    program = "print('<looked>')\ngym.core.get_gym_info()['name']"
    ended = codemode("run", "-", "--html", str(page), *on(gym), stdin=program, GYM_TOKEN="a-token-for-tests")
    assert ended.returncode == 0, ended.stderr
    written = page.read_text(encoding="utf-8")
    assert "<pre>&lt;looked&gt;</pre>" in written
    assert json.dumps(json.loads(ended.stdout)).strip('"') in written
    assert "a-token-for-tests" not in written


def test_a_page_that_cannot_be_written_is_rejected_before_the_program_runs(gym: Gym, tmp_path: Path) -> None:
    for page, reason in ((tmp_path, "it is a folder"), (tmp_path / "no" / "a.html", f"no folder {tmp_path / 'no'}")):
        ended = codemode("run", "-", "--html", str(page), *on(gym), stdin="1", GYM_TOKEN="a-token-for-tests")
        assert (ended.returncode, ended.stdout) == (2, "")
        assert reason in ended.stderr


def test_one_tool_is_called_with_arguments_of_the_command_line(gym: Gym) -> None:
    def call(*words: str) -> Ended:
        return codemode("call", *words, *on(gym), GYM_TOKEN="a-token-for-tests")

    ended = call("gym.clients.get_clients_list", "limit=2", "name=an")
    assert ended.returncode == 0, ended.stderr
    assert len(json.loads(ended.stdout)["items"]) <= 2
    ended = call("gym.clients.get_clients_list", "limit=2", "--json")
    assert json.loads(ended.stdout)["calls"][0]["arguments"] == {"limit": 2}
    for argument, reason in (("limit=many", "limit: expected int"), ("limi=2", "refused before anything ran")):
        ended = call("gym.clients.get_clients_list", argument)
        assert (ended.returncode, ended.stdout) == (1, "")
        assert reason in ended.stderr
    for words, reason in (
        (["gym.clients.get_client_list"], "there is no tool 'gym.clients.get_client_list'; nearest: gym.clients."),
        (["gym.clients.get_clients_list", "limit"], "the argument 'limit' is not KEY=VALUE"),
        (["gym.clients.get_clients_list", "limit=1", "limit=2"], "the argument 'limit' is given twice"),
    ):
        ended = call(*words)
        assert (ended.returncode, reason in ended.stderr) == (2, True), ended.stderr


def test_tools_are_shown_as_a_tree(gym: Gym) -> None:
    ended = codemode("tools", "--tree", "--namespace", "gym.memberships", "--source", str(gym.document))
    first, second, *rest = ended.stdout.splitlines()
    assert (first, second) == ("gym", "└── memberships")
    assert any(line.split()[1:3] == ["freeze_membership", "write"] for line in rest), ended.stdout


def test_the_token_never_shows(gym: Gym) -> None:
    program = "try:\n    gym.core.get_gym_info()\nexcept Exception as error:\n    print(error)"
    ended = codemode("run", "-", *on(gym), stdin=program, GYM_TOKEN="hunter2-is-wrong")
    assert "401" in ended.stderr
    assert "hunter2" not in ended.stdout + ended.stderr


def test_a_missing_secret_is_named_when_a_call_needs_it(gym: Gym) -> None:
    assert codemode("run", "-", *on(gym), stdin="1").returncode == 0
    ended = script("run", "-", *on(gym), stdin="gym.core.get_gym_info()")
    assert ended.returncode == 1
    assert "GYM_TOKEN" in ended.stderr
    assert "GYM_TOKEN" not in ended.stdout


@pytest.mark.parametrize(
    ("content", "message"),
    [("{", "not"), ("openapi: 3.1.0", ""), ("[1, 2]", "")],
)
def test_a_malformed_document_is_exit_code_3_with_its_name(tmp_path: Path, content: str, message: str) -> None:
    document = tmp_path / "broken.yaml"
    document.write_text(content, encoding="utf-8")
    ended = codemode("tools", "--source", str(document))
    assert ended.returncode == 3, ended.stderr
    assert "broken.yaml" in ended.stderr
    assert message in ended.stderr
    assert "Traceback" not in ended.stderr


def test_an_unreachable_document_is_exit_code_3() -> None:
    ended = codemode("tools", "--source", "http://127.0.0.1:9/openapi.json")
    assert ended.returncode == 3, ended.stderr
    assert "http://127.0.0.1:9/openapi.json" in ended.stderr


def test_the_version_is_printed() -> None:
    assert script("--version").stdout == f"codemode {version('codemode')}\n"


def test_a_missing_configuration_is_exit_code_2(tmp_path: Path) -> None:
    ended = script("tools", "--config", str(tmp_path / "codemode.yaml"))
    assert ended.returncode == 2
    assert "cannot read the configuration" in ended.stderr


def test_cost_says_which_mode_fits(gym: Gym) -> None:
    report = json.loads(codemode("cost", "--json", "--source", str(gym.document)).stdout)
    assert report["tools"] == 137
    assert [mode["fits"] for mode in report["modes"]] == [False, True, True, True]
    assert report["verdict"].startswith("code mode")


def test_cost_is_plotted_into_a_file_or_as_bars(gym: Gym, tmp_path: Path) -> None:
    file = tmp_path / "cost.svg"
    ended = codemode("cost", "--source", str(gym.document), "--plot", str(file))
    assert (ended.returncode, ended.stderr) == (0, f"{file} written\n")
    assert file.read_text().startswith("<svg ")
    ended = codemode("cost", "--source", str(gym.document), "--plot", "-")
    bars = [line.count("█") for line in ended.stdout.splitlines()]
    assert (bars[0], bars[3], bars[4]) == (40, 1, 0)
    ended = codemode("cost", "--source", str(gym.document), "--plot", str(tmp_path / "none" / "cost.svg"))
    assert ended.returncode == 2
    assert "No such file or directory" in ended.stderr


def test_a_check_counts_the_answers_that_differed_from_their_schemas(gym: Gym, tmp_path: Path) -> None:
    tool, last = "gym.core.get_gym_info", "returned a field `today` of type int where the document says string"
    stored = {"format": 1, "differences": {tool: [3, last], "gym.gone": [1, last]}}
    settings = gym.settings(name="differing", state_folder=tmp_path)
    config = ["--config", str(tmp_path / "codemode.yaml")]
    source = f"sources: {{gym: {{location: {gym.document}, base_url: '{gym.url}'}}}}"
    (tmp_path / "codemode.yaml").write_text(f"name: differing\nstate_folder: {tmp_path}\n{source}\n", encoding="utf-8")
    settings.learned().mkdir(parents=True)
    (settings.learned() / "answers.json").write_text(json.dumps(stored), encoding="utf-8")
    shown = codemode("sources", "check", *config).stdout
    assert "3 answers, of 1 operations, differed from their schemas:" in shown
    assert f"{tool}: 3 answers; the last {last}" in shown
    data = json.loads(codemode("sources", "check", "--json", *config).stdout)
    assert data["gym"]["differing_answers"] == {tool: {"number": 3, "last": last}}


def test_a_plot_of_another_format_is_rejected_before_the_sources_are_read(tmp_path: Path) -> None:
    file = tmp_path / "cost.png"
    ended = codemode("cost", "--source", "none.json", "--plot", str(file))
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "is not an SVG file: end its name with .svg" in ended.stderr
    assert not file.exists()


def test_sources_are_added_checked_listed_and_removed(gym: Gym, tmp_path: Path) -> None:
    config = ["--config", str(tmp_path / "codemode.yaml")]
    added = codemode("sources", "add", "gym", str(gym.document), "--base-url", gym.url, *config)
    assert added.returncode == 0, added.stderr
    assert "137 operations" in added.stdout
    (listed,) = json.loads(codemode("sources", "list", "--json", *config).stdout)
    assert (listed["name"], listed["tools"], listed["warnings"]) == ("gym", 137, 0)
    assert json.loads(codemode("sources", "check", "--json", *config).stdout)["gym"]["operations"] == 137
    with (tmp_path / "codemode.yaml").open("a", encoding="utf-8") as file:
        file.write("  gone: {location: gone.json}\npins: [gone.x]\n")
    assert codemode("sources", "check", *config).returncode == 3
    assert list(json.loads(codemode("sources", "check", "gym", "--json", *config).stdout)) == ["gym"]
    missed = codemode("sources", "check", "gim", *config)
    assert missed.returncode == 2
    assert "there is no source 'gim'; there are: gym, gone; did you mean 'gym'?" in missed.stderr
    assert codemode("sources", "remove", "gym", *config).returncode == 0
    assert "there is no source" in codemode("sources", "remove", "gym", *config).stderr


def test_search_is_measured_on_labelled_queries(gym: Gym) -> None:
    queries = str(gym.document.parent / "queries.yaml")
    measured = json.loads(codemode("measure", "search", queries, "--json", "--source", str(gym.document)).stdout)
    assert measured["as given"]["queries"] > 100
    assert measured["as given"]["recall_10"] > 0.8
    assert measured["with typos"]["recall_10"] > 0.75
    nothing = codemode("measure", "search", "--source", str(gym.document))
    assert nothing.returncode == 2
    assert "no labelled queries: no hit of a search has been called yet" in nothing.stderr


def test_serve_answers_reads_anew_and_ends_as_it_is_told(gym: Gym) -> None:
    command = [SCRIPT, "serve", "--port", "0", *on(gym)]
    environment = script_environment() | {"GYM_TOKEN": "a-token-for-tests", "CODEMODE_API_KEY": "a-key"}
    with subprocess.Popen(command, stderr=subprocess.PIPE, env=environment, text=True) as process:
        assert process.stderr is not None
        line = process.stderr.readline()
        while "http://" not in line:
            assert line, "the server ended before it listened"
            line = process.stderr.readline()
        url = "http://" + line.partition("http://")[2].strip()
        body = {"code": "gym.core.get_gym_info()['name']"}
        answer = httpx2.post(f"{url}/v1/execute", json=body, headers={"Authorization": "Bearer a-key"}, timeout=120)
        assert answer.json()["status"] == "completed"
        process.send_signal(signal.SIGHUP)
        while "reloaded" not in (line := process.stderr.readline()):
            assert line, "the server ended"
        assert "tools=137" in line
        process.send_signal(signal.SIGTERM)
        process.wait()


def test_a_terminal_that_cannot_show_a_character_gets_its_number(gym: Gym, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("'caf\u00e9'", encoding="utf-8-sig")
    ended = script("run", str(program), "--json", "--source", str(gym.document), PYTHONIOENCODING="ascii")
    assert ended.returncode == 0, ended.stderr
    assert "caf\\xe9" in ended.stdout


def test_a_refresh_names_what_changed_since_the_last(tmp_path: Path) -> None:
    document = tmp_path / "pets.json"
    config = tmp_path / "codemode.yaml"
    config.write_text(
        f"sources: {{pets: {{location: {document}, base_url: 'http://127.0.0.1:9'}}}}\n"
        f"state_folder: {tmp_path / 'state'}\ncache_folder: {tmp_path / 'cache'}\n",
        encoding="utf-8",
    )
    listing = {"get": {"operationId": "listPets"}}
    document.write_text(json.dumps({"openapi": "3.1.0", "paths": {"/pets": listing}}), encoding="utf-8")
    command = ("sources", "refresh", "--json", "--config", str(config))
    assert json.loads(codemode(*command).stdout) == {"pets": None}
    grown = {"/pets": {**listing, "post": {"operationId": "addPet"}}}
    document.write_text(json.dumps({"openapi": "3.1.0", "paths": grown}), encoding="utf-8")
    added = {"added": ["pets.pets.add_pet"], "removed": [], "changed": []}
    assert json.loads(codemode(*command).stdout) == {"pets": added}
    assert "there is no source 'nope'" in codemode("sources", "refresh", "nope", *command[2:]).stderr
