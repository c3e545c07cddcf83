from __future__ import annotations

import itertools
import json
import re
from typing import TYPE_CHECKING

import pytest
from pydantic import ValidationError

from codemode.errors import ConfigurationError
from codemode.settings import SecretReference, Settings, SourceSettings, is_python, load_settings, settings_for_document

if TYPE_CHECKING:
    from pathlib import Path


def write(folder: Path, text: str) -> Path:
    file = folder / "codemode.yaml"
    file.write_text(text, encoding="utf-8")
    return file


def test_a_minimal_file_has_all_defaults(tmp_path: Path) -> None:
    settings = load_settings(write(tmp_path, "sources: {gym: {location: gym.yaml}}"))
    assert settings.sources["gym"].location == str(tmp_path / "gym.yaml")
    assert settings.limits.wall_s == 30.0
    assert settings.server.host == "127.0.0.1"


def test_every_mistake_is_named_at_once_with_line_key_and_nearest_key(tmp_path: Path) -> None:
    file = write(
        tmp_path,
        "sources:\n"
        "  gym:\n"
        "    locaton: x\n"
        "    credentials:\n"
        "      - {kind: api_key, name: a, value: {envv: b}}\n"
        "limits:\n"
        "  wall: 3\n"
        "  cpu_s: 0\n",
    )
    with pytest.raises(ConfigurationError) as caught:
        load_settings(file)
    lines = str(caught.value).splitlines()[1:]
    assert lines == [
        "  line 3: sources.gym.locaton: unknown key; did you mean 'location'? valid: "
        + ", ".join(sorted(SourceSettings.model_fields)),
        "  line 5: sources.gym.credentials.0.api_key.value.envv: unknown key; did you mean 'env'? valid: caller, "
        "command, env, file, keyring",
        "  line 7: limits.wall: unknown key; did you mean 'wall_s'? valid: calls, calls_in_flight, cpu_s, finish_s, "
        "memory_mib, output_bytes, replies_mib, result_bytes, source_bytes, wall_s",
        "  line 8: limits.cpu_s: Input should be greater than or equal to 1",
    ]


def test_mistakes_about_plugins_have_their_lines(tmp_path: Path) -> None:
    text = (
        "sources: {gym: {location: gym.yaml}}\n"
        "plugins:\n"
        "  - office_hours\n"
        "policy:\n"
        "  rules:\n"
        "    - {tools: gym.*, decision: allow, low_risk: true}\n"
    )
    with pytest.raises(ConfigurationError) as caught:
        load_settings(write(tmp_path, text))
    assert str(caught.value).splitlines()[1:] == [
        "  line 3: plugins.0.name: unknown plugin 'office_hours'; no package with plugins is installed here",
        "  line 6: policy.rules.0: low_risk: only a rule with `decision: ask` can be low-risk, not `allow`",
    ]


def test_what_is_expected_is_said_in_the_words_of_the_file(tmp_path: Path) -> None:
    file = write(
        tmp_path,
        "sources:\n"
        "  gym: {location: 3, timeout_s: long, keep_names: often}\n"
        "  shop: {location: x, credentials: [{kind: bearrer, token: {env: A}}, {kind: bearer, token: hunter2}]}\n"
        "  print: {location: x}\n"
        "  class: {location: x}\n"
        "pins: one\n"
        "server: {port: eighty, tokens: {issuer: a}}\n",
    )
    with pytest.raises(ConfigurationError) as caught:
        load_settings(file)
    assert str(caught.value).splitlines()[1:] == [
        "  line 2: sources.gym.keep_names: expected true or false",
        "  line 2: sources.gym.location: expected text",
        "  line 2: sources.gym.timeout_s: expected a number",
        "  line 3: sources.shop.credentials.0: unknown kind 'bearrer'; did you mean 'bearer'? "
        "valid: api_key, aws, basic, bearer, none, oauth2",
        "  line 3: sources.shop.credentials.1.bearer.token: a secret cannot be written here: refer to its place, as "
        "{env: NAME} or {file: PATH}",
        "  line 4: sources.print: 'print' cannot be a namespace: programs already have a function of this name",
        "  line 5: sources.class: 'class' cannot be a namespace: it is a Python keyword",
        "  line 6: pins: expected a list",
        "  line 7: server.port: expected a whole number",
        "  line 7: server.tokens.audience: missing key",
        "  line 7: server.tokens.jwks_url: missing key",
    ]


def test_a_key_that_stands_twice_is_refused_with_both_lines(tmp_path: Path) -> None:
    file = write(tmp_path, "sources:\n  gym: {location: a}\n  gym: {location: b}\nlimits: {cpu_s: 1, cpu_s: 2}\n")
    with pytest.raises(ConfigurationError) as caught:
        load_settings(file)
    assert str(caught.value).splitlines()[1:] == [
        "  line 3: gym: repeats the key in line 2; remove one of them",
        "  line 4: cpu_s: repeats the key in line 4; remove one of them",
    ]


def test_what_is_no_yaml_is_told_by_its_line_without_its_text(tmp_path: Path) -> None:
    with pytest.raises(
        ConfigurationError, match=r"not YAML: line 3: .* \(while parsing a flow mapping in line 2\)"
    ) as caught:
        load_settings(write(tmp_path, "sources:\n  gym: {location: hunter2\n"))
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("2024-13-45", "this value looks like timestamp, but is not valid; quote it to read it as text"),
        ("!!bool maybe", "this value looks like bool, but is not valid"),
        ("!!timestamp soon", "this value looks like timestamp, but is not valid"),
        ("7" * 5000, "a number of 5,000 digits is too long, at most 4,300 are read; quote it to read it as text"),
        ("0x" + "f" * 5000, "a number of 5,002 digits is too long, at most 4,300 are read"),
    ],
    ids=["date", "bool", "timestamp", "int", "hexadecimal"],
)
def test_a_value_that_cannot_be_read_is_told_by_its_line_without_its_text(
    tmp_path: Path, value: str, said: str
) -> None:
    with pytest.raises(ConfigurationError) as caught:
        load_settings(write(tmp_path, f"sources: {{gym: {{location: gym.yaml}}}}\nlimits:\n  wall_s: {value}\n"))
    assert f"codemode.yaml: not YAML: line 3: {said}" in str(caught.value)
    (tmp_path / "menu.yaml").write_text(f"cap: {value}")
    with pytest.raises(ConfigurationError, match=r"menu: cannot read .*menu\.yaml: not YAML: line 1: "):
        load_settings(write(tmp_path, "sources: {gym: {location: gym.yaml}}\nmenu: menu.yaml\n"))


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("sources.gym.location", "sources: {gym: {location: PATH}}"),
        ("sources.gym.bind", "sources: {gym: {location: gym.json, bind: PATH}}"),
        ("sources.gym.ca_file", "sources: {gym: {location: gym.yaml, ca_file: PATH}}"),
        ("mcp_servers.0", "mcp_servers: [PATH]"),
        ("cache_folder", "cache_folder: PATH"),
        ("observe.audit_file", "observe: {audit_file: PATH}"),
        ("server.keys.0.secret.file", "server: {keys: [{file: PATH}]}"),
    ],
)
@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("~nobody-of-that-name/x", "no home folder is known for '~nobody-of-that-name'"),
        ('"a\\0b"', "a path cannot contain the character NUL"),
    ],
    ids=["home", "nul"],
)
def test_a_path_that_is_none_is_told_by_its_key(tmp_path: Path, key: str, text: str, path: str, said: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        load_settings(write(tmp_path, text.replace("PATH", path)))
    assert f"  line 1: {key}: {said}" in str(caught.value)


def test_so_is_that_of_a_menu_of_a_file_of_servers_and_of_the_configuration(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="menu: no home folder is known for '~nobody-of-that-name'"):
        load_settings(write(tmp_path, "menu: ~nobody-of-that-name/x.yaml"))
    (tmp_path / "mcp.json").write_text(
        json.dumps({"mcpServers": {"a": {"command": "a", "cwd": "~nobody-of-that-name"}}})
    )
    with pytest.raises(ConfigurationError, match=r"mcp_servers: .*mcp\.json: mcpServers\.a: no home folder"):
        load_settings(write(tmp_path, "mcp_servers: [mcp.json]"))
    (tmp_path / "mcp.json").write_text("[" * 100_000)
    with pytest.raises(ConfigurationError, match=r"mcp_servers: .*mcp\.json is not JSON"):
        load_settings(write(tmp_path, "mcp_servers: [mcp.json]"))
    with pytest.raises(ConfigurationError, match="no home folder is known for '~nobody-of-that-name'"):
        load_settings("~nobody-of-that-name/codemode.yaml")


def test_the_home_folder_is_found_in_every_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    settings = load_settings(
        write(tmp_path, "sources: {gym: {location: ~/gym.yaml, ca_file: ~/ca.pem}}\nobserve: {audit_file: ~/audit}")
    )
    home = tmp_path / "home"
    assert settings.sources["gym"].location == str(home / "gym.yaml")
    assert (settings.sources["gym"].ca_file, settings.observe.audit_file) == (home / "ca.pem", home / "audit")


def test_an_address_is_no_python_whatever_it_ends_in() -> None:
    assert is_python("shop.py:Shop")
    assert is_python("python:http")
    assert not is_python("http://127.0.0.1/shop.py")


def test_a_tab_is_said_to_be_one(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"line 3: .*; indent YAML with spaces, not with tabs"):
        load_settings(write(tmp_path, "sources:\n  gym:\n\tlocation: x\n"))


@pytest.mark.parametrize("text", ["", "[]", "sources: {}", "a: [", "sources: {9: {location: x}}"])
def test_a_file_that_is_no_configuration_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(ConfigurationError):
        load_settings(write(tmp_path, text))


def test_a_missing_file_is_refused_with_the_way_out(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="No such file or directory; choose another file with --config"):
        load_settings(tmp_path / "none.yaml")


def test_a_secret_comes_from_the_environment_or_a_file_and_is_not_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("A_TOKEN", "hunter2")
    (tmp_path / "token").write_text("hunter3\n", encoding="utf-8")
    from_environment = SecretReference(env="A_TOKEN").resolve()
    from_file = SecretReference(file=tmp_path / "token").resolve()
    assert (from_environment.get_secret_value(), from_file.get_secret_value()) == ("hunter2", "hunter3")
    assert "hunter" not in repr((from_environment, from_file))


def test_a_secret_that_is_not_there_names_where_it_was_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("A_TOKEN", raising=False)
    with pytest.raises(ConfigurationError, match="the environment variable A_TOKEN is empty or not set"):
        SecretReference(env="A_TOKEN").resolve()


@pytest.mark.parametrize(
    ("location", "namespace"),
    [
        ("specs/github.json", "github"),
        ("https://api.stripe.example/v1/openapi.json", "stripe"),
        ("https://mcp.linear.example/mcp", "linear"),
        ("gym/openapi.yaml", "gym"),
        ("http://127.0.0.1:8000/openapi.json", "api"),
        ("./Pet Store.yml", "pet_store"),
        ("class.json", "class_api"),
        ("search/openapi.json", "search_api"),
    ],
)
def test_the_namespace_of_one_document_is_made_of_its_location(location: str, namespace: str) -> None:
    assert list(settings_for_document(location).sources) == [namespace]


def test_a_name_that_is_no_namespace_is_refused() -> None:
    with pytest.raises(
        ConfigurationError, match=r"sources\.Not A Name: 'Not A Name' cannot be a namespace: use a lower-case letter"
    ):
        settings_for_document("x.yaml", name="Not A Name")


@pytest.mark.parametrize("location", ["ftp://files.example/api.json", "file:///etc/api.json"])
def test_an_address_that_is_not_fetched_over_http_is_refused(location: str) -> None:
    with pytest.raises(ConfigurationError, match="begins with http:// or https://"):
        settings_for_document(location)


@pytest.mark.parametrize(
    ("section", "said"),
    [
        (
            "journal: {url: 'postgresql://u:hunter2@x/y'}",
            ["journal.url: the URL contains a password: store the whole URL elsewhere and refer to it, as {env: NAME}"],
        ),
        ("journal: {url: 'mysql://x'}", ["journal.url: expected a URL that begins with postgresql://"]),
        ("journal: {url: 3}", ["journal.url: expected text"]),
        (
            "journal: {url: {enw: X}}",
            ["journal.url.enw: unknown key; did you mean 'env'? valid: command, env, file, keyring"],
        ),
        ("sources: {a: x.json}", ["sources.a: expected a mapping: {location: FILE_OR_URL}"]),
        ("sources: {a: {command: [x], env: {A: 3}}}", ["sources.a.env.A: expected text"]),
        (
            "sources: {a: {location: x.py, bind: 3}}",
            ["sources.a.bind: expected a mapping", "sources.a.bind: expected text"],
        ),
    ],
)
def test_of_several_kinds_of_values_the_one_that_was_meant_is_spoken_of(
    tmp_path: Path, section: str, said: list[str]
) -> None:
    with pytest.raises(ConfigurationError) as caught:
        load_settings(write(tmp_path, section))
    assert [line.strip() for line in str(caught.value).splitlines()[1:]] == [f"line 1: {one}" for one in said]


def test_a_base_url_that_is_none_is_refused_with_its_key() -> None:
    with pytest.raises(ConfigurationError) as caught:
        settings_for_document("gym.json", base_url="localhost:8137")
    assert str(caught.value) == "sources.gym.base_url: expected a URL that begins with http:// or https://"


def test_a_key_is_named_with_its_line_where_it_stands_in_a_file(tmp_path: Path) -> None:
    file = tmp_path / "codemode.yaml"
    file.write_text(
        "sources:\n  gym: {location: gym.json}\npolicy:\n  rules:\n    - {decision: deny}\n", encoding="utf-8"
    )
    assert load_settings(file).place("policy", "rules", 0) == f"{file}, line 5: policy.rules.0"
    assert load_settings(file).model_copy().place("server") == f"{file}, line 1: server"


def test_roles_and_sources_that_are_nowhere_else_are_named_with_line_and_nearest(tmp_path: Path) -> None:
    file = tmp_path / "codemode.yaml"
    file.write_text(
        "sources:\n  gym: {location: gym.json}\n"
        "policy:\n  roles: [support]\n  rules:\n"
        "    - {roles: suport, decision: deny}\n    - {sources: [gim], decision: ask}\n"
        "server:\n  keys:\n    - {env: A, role: boss}\n",
        encoding="utf-8",
    )
    with pytest.raises(ConfigurationError) as caught:
        load_settings(file)
    assert str(caught.value).split("\n")[1:] == [
        "  line 6: policy.rules.0.roles.0: there is no role 'suport'; did you mean 'support'?"
        " valid: approver, default, support",
        "  line 7: policy.rules.1.sources.0: there is no source 'gim'; did you mean 'gym'? valid: gym",
        "  line 10: server.keys.0.role: there is no role 'boss'; valid: approver, default, support",
    ]


@pytest.mark.parametrize("place", ["", "location: x, command: [y]", "kind: mcp, location: servers.json"])
def test_a_source_has_one_place(tmp_path: Path, place: str) -> None:
    with pytest.raises(ConfigurationError, match=r"line 1: sources\.gym: (set location|an MCP server)"):
        load_settings(write(tmp_path, f"sources: {{gym: {{{place}}}}}"))


def test_servers_are_read_from_the_files_of_other_clients(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_TOKEN", "from-the-environment")
    stdio = {"command": "npx", "args": ["-y", "server", "${FILES_HERE:-/data}"], "env": {"A": "${A_TOKEN}"}}
    remote = {"type": "http", "url": "https://example.org/mcp", "headers": {"Authorization": "Bearer ${A_TOKEN}"}}
    servers = {"file-system": stdio, "Remote": remote, "off": {"command": "x", "disabled": True}}
    (tmp_path / ".mcp.json").write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")
    sources = load_settings(write(tmp_path, "mcp_servers: [.mcp.json]")).sources
    assert set(sources) == {"file_system", "remote"}
    assert sources["file_system"].command == ("npx", "-y", "server", "/data")
    assert sources["file_system"].env == {"A": "from-the-environment"}
    assert sources["remote"].headers == {"Authorization": "Bearer from-the-environment"}
    assert all(source.is_mcp for source in sources.values())


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("{", "is not JSON"),
        ("{}", "has no mapping `mcpServers`"),
        ('{"mcpServers": {"a": {}}}', "mcpServers.a: set location"),
        ('{"mcpServers": {"a": 5}}', "mcpServers.a: expected an object"),
        ('{"mcpServers": {"gym": {"command": "x"}}}', "source 'gym' already exists"),
    ],
)
def test_a_file_of_servers_that_cannot_be_read_is_named(tmp_path: Path, content: str, said: str) -> None:
    (tmp_path / "mcp.json").write_text(content, encoding="utf-8")
    with pytest.raises(ConfigurationError, match=re.escape(said)):
        load_settings(write(tmp_path, "mcp_servers: [mcp.json]\nsources: {gym: {location: x}}"))


def test_a_server_of_another_file_never_takes_the_namespace_of_saved_programs(tmp_path: Path) -> None:
    (tmp_path / "mcp.json").write_text('{"mcpServers": {"Saved": {"command": "x"}}}', encoding="utf-8")
    with pytest.raises(ConfigurationError, match="source 'saved' already exists"):
        load_settings(write(tmp_path, "mcp_servers: [mcp.json]\nsaved: {folder: programs}"))


@pytest.mark.parametrize("order", list(itertools.permutations(("My Bank", "my_bank", "MY-BANK", "my_bank_2"))))
def test_the_order_of_servers_gives_no_namespace_away(tmp_path: Path, order: tuple[str, ...]) -> None:
    servers = {name: {"command": name} for name in order}
    (tmp_path / "mcp.json").write_text(json.dumps({"mcpServers": servers}), encoding="utf-8")
    sources = load_settings(write(tmp_path, "mcp_servers: [mcp.json]")).sources
    assert {name: source.command[0] for name, source in sources.items()} == {
        "my_bank": "my_bank",
        "my_bank_2": "my_bank_2",
        "my_bank_3": "MY-BANK",
        "my_bank_4": "My Bank",
    }


def test_folders_are_found_from_wherever_the_file_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "here").mkdir()
    file = tmp_path / "here" / "codemode.yaml"
    file.write_text("sources: {gym: {location: gym.json}}\nstate_folder: state\ncache_folder: /var/cache/mine\n")
    monkeypatch.chdir(tmp_path)
    settings = load_settings("here/codemode.yaml")
    assert settings.state().resolve() == tmp_path / "here" / "state"
    assert str(settings.cache()) == "/var/cache/mine"


def test_a_project_is_its_name_or_the_path_of_its_file(tmp_path: Path) -> None:
    (tmp_path / "prod").mkdir()
    (tmp_path / "staging").mkdir()
    text = "sources: {gym: {location: gym.json}}\n"
    staging, prod = (load_settings(write(tmp_path / name, text)) for name in ("staging", "prod"))
    assert staging.project.startswith("staging-")
    assert prod.project.startswith("prod-")
    assert load_settings(write(tmp_path / "prod", text)).project == prod.project
    named = [load_settings(write(tmp_path / name, f"name: shop\n{text}")) for name in ("staging", "prod")]
    assert [one.project for one in named] == ["shop", "shop"]
    with pytest.raises(ConfigurationError, match="line 1: name"):
        load_settings(write(tmp_path, f"name: ../shop\n{text}"))


def test_each_project_has_a_state_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    text = "sources: {gym: {location: gym.json}}\n"
    settings = load_settings(write(tmp_path, text))
    assert settings.state() == settings.learned() == tmp_path / "state" / "codemode" / settings.project
    named = load_settings(write(tmp_path, f"{text}state_folder: here\n"))
    assert named.state() == tmp_path / "here"
    assert named.learned() == tmp_path / "here" / "learned" / named.project
    assert settings.left_behind("keys.json") == ""
    (tmp_path / "state" / "codemode").mkdir(parents=True)
    (tmp_path / "state" / "codemode" / "keys.json").write_text("{}")
    assert "move its files there" in settings.left_behind("keys.json")
    assert named.left_behind("keys.json") == ""
    settings.state().mkdir()
    (settings.state() / "keys.json").write_text("{}")
    assert settings.left_behind("keys.json") == ""


def test_what_is_made_without_a_file_is_a_project_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    here = settings_for_document("gym.json", base_url="http://a").project
    assert here == settings_for_document(str(tmp_path / "gym.json"), base_url="http://a").project
    assert here != settings_for_document("gym.json", base_url="http://b").project
    first, second = (Settings(state_folder=tmp_path / name).project for name in ("first", "second"))
    assert first != second
    shared = [Settings.model_validate({"state_folder": one, "journal": {"url": "postgresql://db/x"}}) for one in "ab"]
    assert shared[0].project == shared[1].project
    assert Settings(name="shop", state_folder=tmp_path).project == "shop"


@pytest.mark.parametrize("path", ["", "items[0].id", "a..b", ".a", "a.", "a[]b", "$[*]["])
def test_a_path_of_fields_is_rejected_with_the_form(path: str) -> None:
    with pytest.raises(ValidationError, match=r"names joined by dots.*items\[\]\.id"):
        SourceSettings.model_validate({"location": "gym.json", "fields": {"*": [path]}})


def test_a_clock_is_shown_before_the_instructions(tmp_path: Path) -> None:
    file = tmp_path / "codemode.yaml"
    clock = "clock: {zone: Europe/Berlin, today: 2026-01-15}"
    file.write_text(f"sources:\n  gym: {{location: gym.json, instructions: Ask first., {clock}}}\n", encoding="utf-8")
    source = load_settings(file).sources["gym"]
    assert source.introduction == "Clock: time zone Europe/Berlin, today is 2026-01-15.\nAsk first."


def test_an_unknown_time_zone_is_rejected_with_the_nearest() -> None:
    with pytest.raises(ValidationError, match="unknown time zone 'Europe/Berln'; did you mean 'Europe/Berlin'"):
        SourceSettings.model_validate({"location": "gym.json", "clock": {"zone": "Europe/Berln"}})
