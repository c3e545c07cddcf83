"""Toolkits, function lists and tool descriptions, carried out by Python callables or a service."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import BaseModel, Field
from typer.testing import CliRunner

from codemode import CodeMode, ConfigurationError, SourceError, bind, tool
from codemode.catalog import stubs
from codemode.serving.cli.sources import app
from codemode.settings import Settings, load_settings
from tests.unit.codemode.transports.recorder import Answered

if TYPE_CHECKING:
    from pathlib import Path

    from tests.unit.codemode.transports.recorder import Recorder

FIND = {
    "type": "function",
    "function": {
        "name": "find_members",
        "description": "Find members by name. Only active ones.",
        "parameters": {
            "type": "object",
            "properties": {
                "name": {"type": "string", "description": "A part of it."},
                "limit": {"type": "integer", "default": 5},
                "from": {"type": "string"},
            },
            "required": ["name"],
        },
    },
}
FREEZE = {
    "name": "freeze_membership",
    "description": "Freeze a membership.",
    "parameters": {"type": "object", "properties": {"member_id": {"type": "integer"}}, "required": ["member_id"]},
}
MEMBERS = {
    "name": "members",
    "tier": "core",
    "description": "Who trains here.",
    "keywords": ["client", "person"],
    "tasks": [FIND, FREEZE],
    "instructions": "Ask for the full name first.",
    "examples": ["gym.members.find_members(name='Ann')"],
}

CODE = """
from codemode import tool


@tool(effect="read")
def find_members(name: str, limit: int = 5, **more: str) -> list[str]:
    return [f"{name} {number}" for number in range(limit)] + [f"{key}={value}" for key, value in more.items()]


def freeze_membership(member_id: int) -> dict[str, int]:
    return {"frozen": member_id}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with a toolkit and the code that carries it out."""
    (tmp_path / "toolkits").mkdir()
    (tmp_path / "toolkits" / "members.json").write_text(json.dumps(MEMBERS))
    (tmp_path / "gym.py").write_text(CODE)
    return tmp_path


def configured(folder: Path, **source: Any) -> Settings:
    """The settings of a file with one source."""
    folders = {"state_folder": str(folder / "state"), "cache_folder": str(folder / "cache")}
    (folder / "codemode.yaml").write_text(json.dumps({"sources": {"gym": source}, **folders}))
    return load_settings(folder / "codemode.yaml")


async def test_a_toolkit_is_carried_out_by_python_of_the_same_names(folder: Path) -> None:
    settings = configured(folder, location="toolkits", bind="gym.py")
    async with CodeMode.from_settings(settings) as service:
        find = service.catalog.get("gym.members.find_members")
        assert stubs.signature(find).startswith(
            "gym.members.find_members(*, name: str, limit: int = 5, from_: str | None = None) -> list[str]"
        )
        assert (find.effect, find.tier, find.tags) == ("read", "core", ("members",))
        code = "gym.members.find_members(name='Ann', limit=1, from_='x'), gym.members.freeze_membership(member_id=7)"
        assert (await service.execute(code)).value == [["Ann 0", "from=x"], {"frozen": 7}]
        assert (await service.search("client")).hits[0].tool.namespace == "gym"
        (toolkit,) = service.catalog.toolkits
        assert (toolkit.id, toolkit.tier, toolkit.keywords) == ("gym.members", "core", ("client", "person"))
        assert [one.id for one in service.catalog.tools_of(toolkit)] == [
            "gym.members.find_members",
            "gym.members.freeze_membership",
        ]
        assert (await service.describe("gym.members")).startswith(
            "Ask for the full name first.\nexample: gym.members.find_members(name='Ann')\n"
        )


@pytest.mark.parametrize("said", [None, "write"])
async def test_words_decide_where_neither_the_toolkit_nor_its_code_says_an_effect(
    folder: Path, said: str | None
) -> None:
    wipe = {"name": "wipe_members", "description": "Forgets them all.", **({"effect": said} if said else {})}
    marked = {"name": "erase_members", "description": "Erases them."}
    (folder / "toolkits" / "members.json").write_text(json.dumps({**MEMBERS, "tasks": [wipe, marked]}))
    (folder / "gym.py").write_text(
        "from codemode import tool\ndef wipe_members(): ...\n@tool(effect='write')\ndef erase_members(): ...\n"
    )
    for more in ({"bind": "gym.py"}, {"base_url": "http://127.0.0.1:1"}):
        async with CodeMode.from_settings(configured(folder, location="toolkits", **more)) as service:
            wiping = service.catalog.get("gym.members.wipe_members")
            assert (wiping.effect, wiping.effect_word) == (("write", "") if said else ("destructive", "wipe"))
            erasing = service.catalog.get("gym.members.erase_members")
            assert erasing.effect == ("write" if "bind" in more else "destructive")


async def test_examples_may_be_objects(folder: Path) -> None:
    shown = [{"user": "who is Ann", "call": "find"}, "gym.x()"]
    (folder / "toolkits" / "members.json").write_text(json.dumps({**MEMBERS, "examples": shown}))
    async with CodeMode.from_settings(configured(folder, location="toolkits", bind="gym.py")) as service:
        (toolkit,) = service.catalog.toolkits
        assert toolkit.examples == ('{"user": "who is Ann", "call": "find"}', "gym.x()")


async def test_python_is_bound_by_a_mapping_of_toolkits_or_tasks(folder: Path) -> None:
    (folder / "others.py").write_text("class Members:\n    def find_members(self, name: str) -> str: return name\n")
    singly = {"find_members": "gym.py:find_members", "freeze_membership": "gym.py:freeze_membership"}
    for code in ({"members": "gym.py"}, singly):
        async with CodeMode.from_settings(configured(folder, location="toolkits", bind=code)) as service:
            assert (await service.execute("gym.freeze_membership(member_id=3)")).value == {"frozen": 3}
    with pytest.raises(SourceError, match="there is no callable named 'find_members'"):
        await CodeMode.from_settings(
            configured(folder, location="toolkits", bind={"members": "others.py"}), strict=True
        ).__aenter__()


async def test_a_task_that_matches_no_callable_is_an_error_with_its_line_and_what_is_nearest(folder: Path) -> None:
    (folder / "gym.py").write_text("def find_member(name: str) -> str: return name\n")
    (folder / "toolkits" / "members.json").write_text(json.dumps(MEMBERS, indent=1))
    with pytest.raises(SourceError) as caught:
        await CodeMode.from_settings(configured(folder, location="toolkits", bind="gym.py"), strict=True).__aenter__()
    assert (
        "members.json line 10, tasks.0: there is no callable named 'find_members'; did you mean 'find_member'?"
        in str(caught.value)
    )


async def test_arguments_that_cannot_be_given_are_said(folder: Path) -> None:
    (folder / "gym.py").write_text(
        "def find_members(name: str) -> str: return name\ndef freeze_membership(member_id: int) -> int: return 0\n"
    )
    settings = configured(folder, location="toolkits/members.json", bind="gym.py")
    async with CodeMode.from_settings(settings) as service:
        reasons = [warned.reason for warned in service.sources["gym"].warnings]
        assert "find_members takes no argument 'limit': it is left out" in reasons
        assert service.catalog.find("find_members").parameter_names == ("name",)
    (folder / "gym.py").write_text("def find_members(city: str): ...\ndef freeze_membership(member_id: int): ...\n")
    with pytest.raises(SourceError, match="takes no argument 'name', but its description requires it"):
        await CodeMode.from_settings(settings, strict=True).__aenter__()
    (folder / "gym.py").write_text("def find_members(name, city, **more): ...\n")
    with pytest.raises(SourceError, match="requires an argument 'city' that is missing from its description"):
        await CodeMode.from_settings(settings, strict=True).__aenter__()


async def test_a_service_carries_tasks_out_at_its_endpoints(folder: Path, recorder: Recorder) -> None:
    recorder.answer = lambda got: Answered(body=json.dumps([got.method, got.target, got.body.decode()]).encode())
    tasks = [{**FIND, "endpoint": "GET /members/{name}"}, FREEZE, {"name": "drop", "effect": "read"}]
    (folder / "toolkits" / "members.json").write_text(json.dumps([{"name": "members", "tasks": tasks}]))
    (folder / "token").write_text("a-secret")
    credentials = [{"kind": "bearer", "token": {"file": str(folder / "token")}}]
    settings = configured(
        folder,
        location="toolkits",
        base_url=f"{recorder.url}/v1",
        credentials=credentials,
        endpoints={"drop": "DELETE /x"},
    )
    async with CodeMode.from_settings(settings) as service:
        effects = [service.catalog.find(name).effect for name in ("find_members", "freeze_membership", "drop")]
        assert effects == ["read", "write", "read"]
        code = "m = gym.members\nm.find_members(name='A B', from_='x'), m.freeze_membership(member_id=7), m.drop()"
        outcome = await service.execute(code)
        assert outcome.value == [
            ["GET", "/v1/members/A%20B?from=x", ""],
            ["POST", "/v1/freeze_membership", '{"member_id":7}'],
            ["DELETE", "/v1/x", ""],
        ]
        assert recorder.received[0].headers["Authorization"] == "Bearer a-secret"


@pytest.mark.parametrize(
    ("endpoints", "said"),
    [
        ({"find_member": "GET /m"}, r"there is no tool 'find_member'; did you mean 'find_members'\?"),
        ({"find_members": "FETCH /m"}, "write METHOD /path"),
        ({"find_members": "GET /m/{id}"}, "there is no argument 'id'"),
    ],
)
async def test_an_endpoint_that_cannot_be_is_a_mistake_of_the_configuration(
    folder: Path, endpoints: dict[str, str], said: str
) -> None:
    settings = configured(folder, location="toolkits", base_url="http://127.0.0.1:1", endpoints=endpoints)
    with pytest.raises(ConfigurationError, match=rf"sources\.gym\.endpoints: .*{said}"):
        await CodeMode.from_settings(settings, strict=True).__aenter__()


async def test_what_carries_the_tools_out_has_to_be_said(folder: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"its tools have no implementation: set bind: python:package\.module"):
        await CodeMode.from_settings(configured(folder, location="toolkits"), strict=True).__aenter__()
    with pytest.raises(ConfigurationError, match=r"set bind .* or base_url and endpoints .*, not both"):
        configured(folder, location="toolkits", bind="gym.py", base_url="http://127.0.0.1:1")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ([{"name": "a", "tasks": [{"description": "x"}]}], r"line 1, 0\.tasks\.0: a function must have a name"),
        ([{"tasks": []}], "a toolkit must have a name and tasks"),
        (
            {"toolkits": [{"name": "a", "tasks": [3]}]},
            r"toolkits\.0\.tasks\.0: a function must be an object with a name",
        ),
        ({"name": "a", "tasks": [FIND, FIND]}, "'a/find_members' is described twice: first at"),
        ({"name": "a", "tasks": [{**FREEZE, "effect": "harmless"}]}, "must be one of read, write, destructive"),
        ({"name": "a", "tasks": [{"name": "x", "parameters": 3}]}, "must be a JSON Schema of an object"),
        ({"name": "a", "keywords": "client", "tasks": [FIND]}, "keywords: must be a list of strings"),
        ({"name": "a", "tier": 1, "tasks": [FIND]}, "the tier of a toolkit must be a string"),
        ({"name": "a", "tasks": []}, "gym describes no tools"),
        ([{"type": "namespace", "name": "n", "tools": [3]}], r"0\.tools\.0: a function must be an object with a name"),
        (
            {"functions": [{"name": "x"}, {"type": "function", "function": 3}]},
            r"functions\.1: a function must have a name",
        ),
        (3, "holds neither toolkits"),
        ({"openapi": 3}, "holds neither toolkits"),
    ],
)
async def test_a_toolkit_that_cannot_be_read_says_where_and_why(folder: Path, content: Any, said: str) -> None:
    (folder / "toolkits" / "members.json").write_text(json.dumps(content))
    settings = configured(folder, location="toolkits/members.json", kind="toolkit", base_url="http://127.0.0.1:1")
    with pytest.raises(SourceError, match=said):
        await CodeMode.from_settings(settings, strict=True).__aenter__()


async def test_a_misspelt_key_of_a_toolkit_is_a_warning_with_the_nearest(folder: Path) -> None:
    (folder / "toolkits" / "members.json").write_text(json.dumps({**MEMBERS, "keyword": ["x"]}))
    async with CodeMode.from_settings(configured(folder, location="toolkits", bind="gym.py")) as service:
        (warned,) = service.sources["gym"].warnings
        assert warned.reason.startswith("'keyword' is not a key of toolkits; did you mean 'keywords'?")


async def test_ids_are_kept_when_a_task_comes_that_would_take_one(folder: Path) -> None:
    async with CodeMode.from_settings(configured(folder, location="toolkits", bind="gym.py")) as service:
        assert "gym.members.find_members" in service.catalog
    twin = {**FIND["function"], "name": "findMembers"}  # type: ignore[dict-item]
    (folder / "toolkits" / "members.json").write_text(json.dumps({**MEMBERS, "tasks": [twin, *MEMBERS["tasks"]]}))
    (folder / "gym.py").write_text(CODE + "\nfindMembers = find_members\n")
    async with CodeMode.from_settings(configured(folder, location="toolkits", bind="gym.py")) as service:
        assert service.catalog.get("gym.members.find_members").key == "members/find_members"
        assert service.catalog.find("findMembers").id.startswith("gym.members.find_members_")


RESPONSES = {"type": "function", "name": "get_time", "description": "Tell the time.", "parameters": {}, "strict": True}


async def test_function_tools_of_either_api_are_bound_in_python() -> None:
    async def get_time() -> str:
        """It is told."""
        return "noon"

    grouped = {"type": "namespace", "name": "crm", "tools": [FREEZE]}
    tools = [FIND, RESPONSES, {"type": "web_search"}, grouped]
    functions = {
        "find_members": lambda **given: given,
        "get_time": get_time,
        "crm": {"freeze_membership": lambda member_id: member_id},
    }
    async with CodeMode.from_functions(gym=bind(tools, to=functions)) as service:
        assert [one.id for one in service.catalog] == ["gym.crm.freeze_membership", "gym.find_members", "gym.get_time"]
        assert service.catalog.find("get_time").description == "Tell the time."
        assert (await service.execute("gym.find_members(name='A', from_='b'), gym.get_time()")).value == [
            {"name": "A", "from": "b"},
            "noon",
        ]
        (warned,) = service.sources["gym"].warnings
        assert (warned.pointer, warned.reason) == ("2", "a tool of type 'web_search' runs only at its API: left out")


async def test_a_function_list_is_read_from_a_file_or_from_python(folder: Path) -> None:
    (folder / "tools.json").write_text(json.dumps({"tools": [FIND, FREEZE]}))
    (folder / "gym.py").write_text(f"{CODE}\nTOOLS = {[FIND, FREEZE]!r}\n")
    for location in ("tools.json", "gym.py:TOOLS"):
        async with CodeMode.from_settings(configured(folder, location=location, bind="gym.py")) as service:
            assert (await service.execute("gym.freeze_membership(member_id=3)")).value == {"frozen": 3}


DESCRIPTIONS = """\
kind: Agent
metadata: {name: shop assistant}
spec:
  planner:
    type: react
    config:
      tool_descriptions:
        - name: find_orders
          description: |
            Find orders by what they hold.
          args: {text: What is looked for., limit: At most so many.}
        - name: cancel
          description: Cancel an order.
          args: [number, reason]
"""


async def test_tool_descriptions_take_their_types_from_tools_that_have_any(tmp_path: Path) -> None:
    @tool(effect="read")
    def find_orders(text: str, limit: int = 3) -> list[str]:
        return [text] * limit

    def cancel(number, reason):  # type: ignore[no-untyped-def]
        return f"{number}: {reason}"

    (tmp_path / "agent.yaml").write_text(DESCRIPTIONS)
    async with CodeMode.from_functions(shop=bind(tmp_path / "agent.yaml", to=[find_orders, cancel])) as service:
        assert service.sources["shop"].surface.title == "shop assistant"
        signatures = [stubs.signature(one).partition("  #")[0] for one in service.catalog]
        assert signatures == [
            "shop.cancel(*, number: str, reason: str) -> Any",
            "shop.find_orders(*, text: str, limit: int = 3) -> list[str]",
        ]
        find = service.catalog.find("find_orders")
        assert find.parameters[1].description == "At most so many."
        assert find.description == "Find orders by what they hold."
        assert (await service.execute("shop.cancel(number='7', reason='late')")).value == "7: late"


class Search(BaseModel):
    """What is looked for."""

    text: str
    limit: int = 3


class SearchTool:
    """A tool object as several frameworks have them."""

    name = "find_orders"
    description = "Something else."
    args_schema = Search

    def _run(self, text: str, limit: int = 3) -> list[str]:
        return [text] * limit


async def of_a_model(search: Search) -> list[str]:
    return [search.text] * search.limit


@pytest.mark.parametrize("find", [SearchTool(), of_a_model])
async def test_tool_descriptions_take_the_types_of_pydantic_models(tmp_path: Path, find: Any) -> None:
    (tmp_path / "agent.yaml").write_text(DESCRIPTIONS)
    tools = {"find_orders": find, "cancel": lambda number, reason: None}
    async with CodeMode.from_functions(shop=bind(tmp_path / "agent.yaml", to=tools)) as service:
        found = service.catalog.find("find_orders")
        assert found.description == "Find orders by what they hold."
        assert "text: str, limit: int = 3" in stubs.signature(found)
        assert found.parameters[0].description == "What is looked for."
        assert (await service.execute("shop.find_orders(text='a', limit=2)")).value == ["a", "a"]
        refused = await service.execute("shop.find_orders(text='a', limit='many')")
        assert refused.failure is not None


async def test_function_tools_are_carried_out_by_functions_of_a_model() -> None:
    async with CodeMode.from_functions(gym=bind([FIND], to={"find_members": find_by_model})) as service:
        assert (await service.execute("gym.find_members(name='A')")).value == "A 5"


class Find(BaseModel):
    """Its arguments."""

    name: str
    limit: int = 5
    sender: str = Field("", alias="from")


def find_by_model(arguments: Find) -> str:
    return f"{arguments.name} {arguments.limit}{arguments.sender}"


async def test_tool_objects_stand_beside_functions() -> None:
    async with CodeMode.from_functions(shop=[SearchTool()]) as service:
        assert (await service.execute("shop.find_orders(text='a', limit=1)")).value == ["a"]


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("name: cancel", "name: cancle", r"agent\.yaml line 12, .*callable named .cancle.; did you mean .cancel."),
        ("[number, reason]", "[nummer]", r"line 12, .*cancel takes no argument 'nummer'; did you mean .number.\?"),
        ("[number, reason]", "[{type: x}, 3]", r"line 14, .*args must be names"),
        ("name: cancel", "description: x", r"line 12, .*a described tool must have a name"),
    ],
)
async def test_a_tool_description_that_is_wrong_says_the_line(
    tmp_path: Path, before: str, after: str, said: str
) -> None:
    (tmp_path / "agent.yaml").write_text(DESCRIPTIONS.replace(before, after))
    (tmp_path / "shop.py").write_text("def find_orders(text, limit): ...\ndef cancel(number, reason): ...\n")
    settings = configured(tmp_path, location="agent.yaml", bind="shop.py")
    with pytest.raises(SourceError, match=said):
        await CodeMode.from_settings(settings, strict=True).__aenter__()


async def test_tool_descriptions_are_carried_out_by_a_service_with_texts(tmp_path: Path, recorder: Recorder) -> None:
    (tmp_path / "agent.yaml").write_text(
        "tool_descriptions:\n  - {name: greet, description: Greet., args: 'who, how'}\n"
    )
    async with CodeMode.from_settings(configured(tmp_path, location="agent.yaml", base_url=recorder.url)) as service:
        assert stubs.signature(service.catalog.find("greet")).startswith("gym.greet(*, who: str, how: str) -> Any")
        await service.execute("gym.greet(who='Ann', how='loud')")
        assert (recorder.received[0].target, recorder.received[0].body) == ("/greet", b'{"who":"Ann","how":"loud"}')


def test_sources_add_finds_out_that_it_is_a_folder_of_toolkits(folder: Path) -> None:
    config = ["--config", str(folder / "codemode.yaml")]
    added = CliRunner().invoke(app, ["add", "gym", str(folder / "toolkits"), "--bind", str(folder / "gym.py"), *config])
    assert added.exit_code == 0, added.output
    assert "2 operations (1 read, 1 write), 1 groups" in added.output
    assert load_settings(folder / "codemode.yaml").sources["gym"].bind == str(folder / "gym.py")
    listed = CliRunner().invoke(app, ["list", *config])
    assert re.search(r"^gym +2 +0", listed.output, re.MULTILINE)
