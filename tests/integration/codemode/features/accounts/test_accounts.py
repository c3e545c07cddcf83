"""Accounts: two callers and three accounts at one service."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from codemode.errors import ConfigurationError
from codemode.features.accounts.accounts import Accounts
from codemode.features.accounts.errors import ConnectionUnknown
from codemode.gateway.caller import Caller
from codemode.service import CodeMode
from tests.integration.codemode.features.accounts.desk import ANN, BOB, BOSS, CONNECTIONS, TOKENS, Desk, desk

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


@pytest.fixture
async def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Desk]:
    for variable, token in (("DESK", "t-desk"), ("SALES", "t-sales"), ("ROBOT", "t-robot")):
        monkeypatch.setenv(variable, token)
    async with desk(tmp_path) as made:
        yield made


async def _value(cm: CodeMode, code: str, caller: Caller) -> Any:
    outcome = await cm.execute(code, caller=caller)
    assert outcome.ok, outcome.failure
    return outcome.value


async def _failure(cm: CodeMode, code: str, caller: Caller) -> str:
    outcome = await cm.execute(code, caller=caller)
    assert not outcome.ok
    assert outcome.failure is not None
    return outcome.failure.message


async def test_each_caller_uses_the_first_connection_that_is_for_it(place: Desk) -> None:
    async with place.service() as cm:
        assert await _value(cm, "up.x.who()['me']", ANN) == "desk"
        assert await _value(cm, "up.x.who()['me']", BOB) == "sales"
        assert await _value(cm, "up.x.who()['me']", Caller("key-c")) == "robot"


async def test_a_program_uses_two_accounts(place: Desk) -> None:
    async with place.service() as cm:
        code = "[up.x.who()['me'], up.x.who(connection='robot')['me'], up.x.write(connection='desk')['me']]"
        outcome = await cm.execute(code, caller=ANN)
    assert outcome.value == ["desk", "robot", "desk"]
    assert [call.account for call in outcome.calls] == ["desk", "robot", "desk"]


async def test_all_pages_of_a_list_are_read_as_one_account(place: Desk) -> None:
    async with place.service() as cm:
        assert await _value(cm, "up.x.list.items(connection='robot')", ANN) == [f"robot-{n}" for n in range(5)]
        assert await _value(cm, "up.x.list.items()", ANN) == [f"desk-{n}" for n in range(5)]
    assert place.upstream.seen.count("GET /list robot") == place.upstream.seen.count("GET /list desk")


async def test_work_that_goes_on_is_read_as_the_account_that_began_it(place: Desk) -> None:
    async with place.service() as cm:
        assert await _value(cm, "up.x.job.result(connection='robot', wait_s=5)", ANN) == {"me": "robot"}
    assert place.upstream.seen == ["POST /job robot", "GET /jobs/7 robot"]


async def test_a_connection_of_others_and_none_are_the_same_error(place: Desk) -> None:
    async with place.service() as cm:
        of_others = await _failure(cm, "up.x.who(connection='shop')", ANN)
        none = await _failure(cm, "up.x.who(connection='none')", ANN)
    assert of_others.replace("'shop'", "'none'") == none
    assert "yours: desk, robot" in none
    assert place.upstream.seen == []


@pytest.mark.parametrize(
    "name", ["", "SHOP", "shop ", "shop\x00", "../shop", "key-bob", 7, None, ["shop"], {"shop": 1}]
)
async def test_no_name_reaches_the_connection_of_another(place: Desk, name: object) -> None:
    async with place.service() as cm:
        await cm.execute(f"up.x.write(connection={name!r})", caller=ANN)
    assert not [one for one in place.upstream.seen if one.endswith("sales")]


async def test_signatures_show_the_choice_and_no_names(place: Desk) -> None:
    async with place.service() as cm:
        found = (await cm.search("who", caller=ANN)).text
        described = await cm.describe("up.x.who", caller=ANN)
    assert "connection: str" in found
    for text in (found, described):
        assert "shop" not in text
        assert "t-" not in text


async def test_search_says_what_its_caller_can_use(place: Desk) -> None:
    async with place.service() as cm:
        text = (await cm.search("who", caller=ANN)).text
    last = text.splitlines()[-1]
    assert last == "# up: connected by connection='desk' (default); connected by connection='robot'"


async def test_one_connection_is_no_choice(place: Desk) -> None:
    async with place.service({"robot": CONNECTIONS["robot"]}) as cm:
        assert await _value(cm, "up.x.who()['me']", ANN) == "robot"
        assert "no parameter 'connection'" in await _failure(cm, "up.x.who(connection='robot')", ANN)
        assert "connection" not in (await cm.search("who", caller=ANN)).text.replace("connected", "")


async def test_a_caller_without_a_connection_is_told_so(place: Desk) -> None:
    async with place.service({"desk": CONNECTIONS["desk"]}) as cm:
        assert "no connection of up is for this caller" in await _failure(cm, "up.x.who()", BOB)
    assert place.upstream.seen == []


async def test_a_chosen_connection_is_remembered_for_its_caller(place: Desk) -> None:
    async with place.service() as cm:
        cm.part(Accounts).choose("up", "robot", ANN)
        assert await _value(cm, "up.x.who()['me']", ANN) == "robot"
        assert await _value(cm, "up.x.who()['me']", Caller("key-other", "support")) == "desk"
    async with place.service() as again:
        assert await _value(again, "up.x.who()['me']", ANN) == "robot"
        again.part(Accounts).choose("up", "", ANN)
        assert await _value(again, "up.x.who()['me']", ANN) == "desk"
        with pytest.raises(ConnectionUnknown, match="yours: desk, robot"):
            again.part(Accounts).choose("up", "shop", ANN)


async def test_a_choice_that_is_no_longer_for_its_caller_is_not_used(place: Desk) -> None:
    async with place.service() as cm:
        cm.part(Accounts).choose("up", "desk", ANN)
        moved = Caller(ANN.id, "sales")
        assert await _value(cm, "up.x.who()['me']", moved) == "sales"


async def test_a_read_only_connection_sends_no_writes(place: Desk) -> None:
    reader = {"reader": {**CONNECTIONS["robot"], "read_only": True}, "robot": CONNECTIONS["robot"]}
    async with place.service(reader) as cm:
        assert await _value(cm, "up.x.who()['me']", ANN) == "robot"
        assert "for reads only" in await _failure(cm, "up.x.write()", ANN)
        assert await _value(cm, "up.x.write(connection='robot')['me']", ANN) == "robot"
    assert place.upstream.seen == ["GET /who robot", "POST /write robot"]


async def test_a_rejected_token_of_one_account_does_not_hinder_the_other(place: Desk) -> None:
    del place.upstream.accounts["t-desk"]
    async with place.service() as cm:
        failed = await _failure(cm, "up.x.who()", ANN)
        assert await _value(cm, "up.x.who(connection='robot')['me']", ANN) == "robot"
    assert not [token for token in TOKENS if token in failed]


async def test_people_see_as_whom_a_call_would_be_made(place: Desk) -> None:
    policy = {"rules": [{"tools": "up.x.write", "decision": "ask"}], "approvers": ["approver"]}
    async with place.service(policy=policy) as cm:
        paused = await cm.execute("up.x.write(connection='robot')", caller=ANN)
        assert paused.pending[0].account == "robot"


async def test_an_approval_holds_for_its_account_only(place: Desk) -> None:
    """A caller that changes its choice while a person decides does not get the call approved as another account."""
    policy = {"rules": [{"tools": "up.x.write", "decision": "ask"}], "approvers": ["approver"]}
    async with place.service(policy=policy) as cm:
        paused = await cm.execute("up.x.write()['me']", caller=ANN)
        cm.part(Accounts).choose("up", "robot", ANN)
        await _approve(cm, paused.id)
        again = await cm.execute("", resume_from=paused.id, caller=ANN)
        assert again.status == "paused"
        assert [call.account for call in again.pending] == ["robot"]
        assert place.upstream.seen == []
        await _approve(cm, paused.id)
        ended = await cm.execute("", resume_from=paused.id, caller=ANN)
        assert ended.value == "robot"


async def test_a_run_keeps_its_first_choice_when_it_continues(place: Desk) -> None:
    policy = {"rules": [{"tools": "up.x.write", "decision": "ask"}], "approvers": ["approver"]}
    async with place.service(policy=policy) as cm:
        paused = await cm.execute("[up.x.who()['me'], up.x.write()['me']]", caller=ANN)
        cm.part(Accounts).choose("up", "robot", ANN)
        await _approve(cm, paused.id)
        ended = await cm.execute("", resume_from=paused.id, caller=ANN)
        assert ended.value == ["desk", "desk"]


async def test_a_repair_as_another_account_reuses_nothing(place: Desk) -> None:
    async with place.service() as cm:
        first = await cm.execute("up.x.write()\nraise ValueError()", caller=ANN)
        cm.part(Accounts).choose("up", "robot", ANN)
        repaired = await cm.execute("up.x.write()['me']", resume_from=first.id, caller=ANN)
        assert repaired.value == "robot"
        cm.part(Accounts).choose("up", "desk", ANN)
        same = await cm.execute("up.x.write()['me']", resume_from=first.id, caller=ANN)
        assert same.value == "desk"
    assert place.upstream.seen == ["POST /write desk", "POST /write robot"]


async def test_a_plan_holds_for_its_accounts_only(place: Desk) -> None:
    from codemode.features.plans.plans import Plans

    async with place.service(policy={"approvers": ["approver"]}) as cm:
        planned = await cm.execute("up.x.write()", caller=ANN, dry_run=True)
        assert [call.account for call in planned.planned] == ["desk"]
        plans = cm.part(Plans)
        await plans.decide(planned.plan, (await plans.get(planned.plan, BOSS)).digest, "approved", BOSS)
        cm.part(Accounts).choose("up", "robot", ANN)
        outcome = await cm.execute("", plan=planned.plan, caller=ANN)
    assert outcome.status == "paused"
    assert place.upstream.seen == []


async def test_the_audit_says_as_whom(place: Desk) -> None:
    audit = place.folder / "audit.jsonl"
    async with place.service(observe={"audit_file": str(audit)}) as cm:
        await cm.execute("up.x.who(); up.x.who(connection='robot')", caller=ANN)
    lines = [json.loads(line) for line in audit.read_text().splitlines()]
    assert [line["account"] for line in lines if line["event"] == "call"] == ["desk", "desk", "robot", "robot"]
    assert "t-desk" not in audit.read_text()


async def test_connections_need_their_feature(place: Desk) -> None:
    with pytest.raises(ConfigurationError, match="`connections` is configured"):
        CodeMode(place.settings(), features=())


async def _approve(cm: CodeMode, execution: str) -> None:
    from codemode.executions.types.records import Decision

    waiting = await cm.executions.approvals(BOSS, execution)
    await cm.executions.decide([Decision(one.id, one.digest, "approved", "") for one in waiting], BOSS)
