"""The catalog, a tool's page and the playground as JSON and as pages, with many tools and with hostile text."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest
from starlette.requests import Request

from codemode import CodeMode
from codemode.catalog.catalog import Catalog
from codemode.catalog.tool import Effect, Tool
from codemode.gateway.caller import Caller
from codemode.gateway.policy import AccessPolicy
from codemode.serving.application.app import create_app
from codemode.serving.auth.callers import Callers
from codemode.serving.auth.keys import KeyFile
from codemode.serving.console.pages import catalog
from codemode.serving.console.views import Console
from codemode.serving.web.admission import Admission
from codemode.settings import LoadSettings, Settings
from tests.integration.codemode.serving.console.conftest import browser_of
from tests.lines import counted

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    import httpx2

    from tests.conftest import Gym

TOOL = "gym.memberships.freeze_membership"

POLICY = {
    "rules": [
        {"name": "a person looks", "tools": "gym.core.get_gym_info", "decision": "ask", "reason": "for a test"},
        {"tools": "gym.clients.*", "decision": "deny", "roles": ["default"]},
        {"tools": TOOL, "decision": "deny", "where": {"clientId": 1}},
    ]
}


@pytest.fixture
async def client(gym: Gym, tmp_path: Path) -> AsyncIterator[httpx2.AsyncClient]:
    """A client of a server of the gym, without a session: its requests name the key."""
    settings = gym.settings(policy=POLICY, journal={"enabled": True}, state_folder=str(tmp_path / "state"))
    async with CodeMode.from_settings(settings) as service:
        await service.execute("gym.memberships.get_memberships()", caller=Caller("agent"))
        callers = Callers({"agent": Caller("agent"), "boss": Caller("boss", "approver")}, KeyFile(tmp_path / "keys"))
        async with browser_of(create_app(service, callers)) as browser:
            yield browser


async def read(client: httpx2.AsyncClient, place: str, key: str = "agent", **query: Any) -> Any:
    answer = await client.get(
        f"/console/{place}", params={**query, "format": "json"}, headers={"Authorization": f"Bearer {key}"}
    )
    return answer.json()


async def test_the_catalog_is_the_caller_s(client: httpx2.AsyncClient) -> None:
    mine, theirs = await read(client, "catalog"), await read(client, "catalog", "boss")
    assert mine["total"] < theirs["total"] == 137
    (namespace,) = theirs["groups"]
    assert (namespace["id"], namespace["tools"]) == ("gym", 137)
    assert "gym.clients" in [one["id"] for one in namespace["groups"]]
    assert "gym.clients" not in [one["id"] for one in mine["groups"][0]["groups"]]
    assert len(theirs["tools"]) == 100
    assert len((await read(client, "catalog", "boss", page=2))["tools"]) == 37


async def test_filters_limit_the_tools(client: httpx2.AsyncClient) -> None:
    found = await read(client, "catalog", group="gym.memberships", effect="write", q="FREEZE")
    assert next((tool["id"], tool["effect"], tool["decision"]) for tool in found["tools"]) == (TOOL, "write", "depends")
    assert all(tool["id"].startswith("gym.memberships.") for tool in found["tools"])
    asked = await read(client, "catalog", q="get_gym_info")
    assert [tool["decision"] for tool in asked["tools"]] == ["ask"]


@pytest.mark.parametrize(
    ("query", "status", "message"),
    [
        ({"effect": "reed"}, 422, "effect: 'reed' is not one of read, write, destructive"),
        ({"group": "gim"}, 404, "gim"),
        ({"group": TOOL}, 422, "is a tool, not a group"),
        ({"page": "x"}, 422, "page: 'x' is not a page number"),
        ({"role": "approver"}, 403, "only approvers may look as another role"),
    ],
)
async def test_a_wrong_filter_is_explained(
    client: httpx2.AsyncClient, query: dict[str, str], status: int, message: str
) -> None:
    problem = await read(client, "catalog", **query)
    assert problem["status"] == status
    assert message in problem["detail"]


async def test_an_approver_looks_as_another_role(client: httpx2.AsyncClient) -> None:
    assert await read(client, "catalog", "boss", role="default") == await read(client, "catalog")
    unknown = await read(client, "catalog", "boss", role="aprover")
    assert unknown["detail"] == "role: there is no role 'aprover'; did you mean 'approver'?"


async def test_a_tool_has_its_verdict_with_the_rule(client: httpx2.AsyncClient) -> None:
    tool = await read(client, "catalog/gym.core.get_gym_info")
    assert (tool["policy"]["decision"], tool["policy"]["rule"]) == ("ask", "rule 1 (a person looks)")
    assert tool["signature"].startswith("gym.core.get_gym_info(")
    depends = (await read(client, f"catalog/{TOOL}"))["policy"]
    assert depends["decision"] == ""
    assert depends["steps"][-2]["verdict"] == "decides if its conditions match: clientId"
    missing = await read(client, "catalog/gym.clients.get_clients_list")
    assert (missing["status"], missing["code"]) == (404, "tool_not_found")


async def test_recent_calls_are_those_that_the_caller_may_see(client: httpx2.AsyncClient) -> None:
    calls = (await read(client, "catalog/gym.memberships.get_memberships/calls"))["calls"]
    assert [(call["tool"], call["state"]) for call in calls] == [("gym.memberships.get_memberships", "read")]
    assert (await read(client, "catalog/gym.core.get_gym_info/calls"))["calls"] == []


async def test_the_playground_explains_each_hit(client: httpx2.AsyncClient) -> None:
    found = (await read(client, "search", q="freeze a membership\nxyzzy"))["found"]
    first, second = found["queries"]
    hit = first["hits"][0]
    assert hit["id"] == TOOL
    assert hit["matched"]["name"] == ["freeze", "membership"]
    assert sum(hit["contributions"].values()) == pytest.approx(hit["score"], abs=0.05)
    assert 0 < found["tokens"] <= found["budget_tokens"]
    assert (first["is_unsure"], second["is_empty"]) == (False, True)
    assert (await read(client, "search"))["found"] is None
    wrong = await read(client, "search", q="x", effect="reed")
    assert wrong["status"] == 422


async def test_the_page_of_an_execution_leads_to_why_its_searches_found_their_tools(client: httpx2.AsyncClient) -> None:
    run = await client.post(
        "/v1/execute",
        json={"code": 'print(search("freeze a membership"))'},
        headers={"Authorization": "Bearer agent"},
    )
    page = (await client.get(f"/console/executions/{run.json()['id']}", headers={"Authorization": "Bearer agent"})).text
    link = "/console/search?q=freeze+a+membership&why=open"
    assert f'<a class="foreign" href="{link.replace("&", "&amp;")}">freeze a membership</a>' in page
    assert "<details open>" in (await client.get(link, headers={"Authorization": "Bearer agent"})).text
    theirs = await client.get(f"/console/executions/{run.json()['id']}", headers={"Authorization": "Bearer boss"})
    assert "q=freeze+a+membership&amp;role=default&amp;why=open" in theirs.text


HOSTILE = '"><script>alert(1)</script><b onclick=x>\u202eevil\u200b{{ 7*7 }}'


def hostile(a: int) -> int:
    return a


hostile.__doc__ = f"{HOSTILE}\n\nArgs:\n    a: {HOSTILE}\n"


async def test_hostile_text_stays_text(tmp_path: Path) -> None:
    async with CodeMode.from_functions(shop=[hostile]) as service:
        callers = Callers({"k": Caller("k", label=HOSTILE)}, KeyFile(tmp_path / "keys"))
        async with browser_of(create_app(service, callers)) as browser:
            headers = {"Authorization": "Bearer k"}
            for place in ("catalog", "catalog/shop.hostile", "search", f"catalog?q={HOSTILE}", f"catalog/{HOSTILE}"):
                page = (await browser.get(f"/console/{place}", params={"q": HOSTILE}, headers=headers)).text
                assert "<script>alert" not in page
                assert "<b onclick" not in page
                assert "\u202e" not in page
                assert "\u200b" not in page
                assert "\\u202eevil\\u200b{{ 7*7 }}" in page


async def test_a_page_of_fifty_thousand_tools_takes_a_few_steps_for_each() -> None:
    tools = [
        Tool(
            f"s{n % 40}.group_{n % 500}.tool_{n}",
            source=f"s{n % 40}",
            summary=f"Does thing {n}",
            effect=list(Effect)[n % 3],
            tier=("", "money")[n % 2],
        )
        for n in range(50_000)
    ]
    settings = Settings.model_validate({"policy": {"rules": [{"tools": "s1.*", "decision": "ask"}]}})
    whole = Catalog(tools)

    async def view(_: Caller) -> Any:
        return SimpleNamespace(catalog=whole)

    discovery = SimpleNamespace(policy=AccessPolicy(settings.policy))
    service = cast("CodeMode", SimpleNamespace(view=view, settings=settings, discovery=discovery))
    console = Console(service, (), Admission(LoadSettings(), processors=1))
    listing: Any = catalog.routes(console)[0].endpoint
    for number, query in enumerate(("page=2", "", "page=400", "q=thing+4", "effect=read&tier=money", "group=s3")):
        state = {"caller": Caller("a"), "session": None}
        scope = {"type": "http", "path": "/console/catalog", "query_string": query.encode(), "headers": []}
        request = Request({**scope, "state": state})
        with counted() as lines:
            page = await listing(request)
        assert page.body.count(b"<tr>") == 101
        is_compiled = number > 0  # the first page compiles the templates
        assert not is_compiled or lines.count < 20 * len(tools), (query, lines.count)
