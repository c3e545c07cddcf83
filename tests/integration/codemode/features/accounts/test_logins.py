"""Logins of callers: a call waits for one, goes on by itself, and nobody gets the account of another."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

import pytest

from codemode.executions.types.records import Decision
from codemode.features.accounts import accounts as accounts_module
from codemode.features.accounts.accounts import Accounts
from codemode.features.accounts.errors import ConnectionUnknown
from codemode.gateway.caller import Caller
from codemode.transports.auth.account import Account
from codemode.transports.auth.token_store import token_name, token_store
from tests.integration.codemode.features.accounts.people import ANN, BOB, PUBLIC, Bank, agreed, bank

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

LINK = f"{PUBLIC}/console/accounts/bank/mine"


@pytest.fixture
async def place(tmp_path: Path) -> AsyncIterator[Bank]:
    async with bank(tmp_path) as made:
        yield made


async def _connect(place: Bank, key: str) -> None:
    async with place.browser(key) as browser:
        answer = await browser.come_back(await agreed(await browser.begin()))
        assert answer.status_code == 303, answer.text


async def test_the_first_call_waits_with_a_link_and_goes_on_after_the_login(place: Bank) -> None:
    paused = await place.service.execute("bank.whoami()['scopes']", caller=ANN)
    assert paused.status == "paused"
    (call,) = paused.pending
    assert (call.kind, call.asks and call.asks["url"]) == ("login", LINK)
    assert paused.failure is not None
    assert (paused.failure.type, LINK in paused.failure.message) == ("LoginRequired", True)

    assert (await place.service.search("whoami", caller=ANN)).text.endswith(f"# bank: not connected: log in at {LINK}")

    await _connect(place, "key-of-ann")
    assert (await place.service.search("whoami", caller=ANN)).text.endswith("# bank: connected")
    ended = await place.ended(paused.id, ANN)
    assert (ended.status, ended.outcome["value"]) == ("completed", ["read"])
    assert [one["account"] for one in ended.outcome["calls"]] == ["mine"]


async def test_a_login_that_ends_elsewhere_is_seen_too(place: Bank, monkeypatch: pytest.MonkeyPatch) -> None:
    """As when another server, or the command line, has taken the issuer's answer."""
    monkeypatch.setattr(accounts_module, "LOOK_S", 0.02)
    paused = await place.service.execute("bank.whoami()['scopes']", caller=ANN)
    part = place.service.part(Accounts)
    answer = urlsplit(await agreed(await part.log_in("bank", "mine", ANN))).query
    await part.connections.logins.finish({name: one[0] for name, one in parse_qs(answer).items()}, ANN.id)
    while (await place.service.executions.get(paused.id, ANN)).status == "paused":  # noqa: ASYNC110 -- it has no event
        await asyncio.sleep(0.01)
    assert (await place.ended(paused.id, ANN)).status == "completed"


async def test_two_people_have_two_accounts(place: Bank) -> None:
    await _connect(place, "key-of-ann")
    assert (await place.service.execute("bank.whoami()['scopes']", caller=ANN)).value == ["read"]
    assert (await place.service.execute("bank.whoami()", caller=BOB)).status == "paused"
    await _connect(place, "key-of-bob")
    for caller in (ANN, BOB):
        await place.service.execute("bank.whoami()", caller=caller)
    stores = [token_store("bank", Account("mine", one.id), place.service.store).read() for one in (ANN, BOB)]
    ann, bob = (one for one in stores if one is not None)
    assert ann.access_token != bob.access_token
    assert ann.login != bob.login


async def test_nobody_sees_the_login_of_another(place: Bank) -> None:
    await _connect(place, "key-of-ann")
    async with place.browser("key-of-bob") as browser:
        page = (await browser.client.get("/console/accounts")).text
        assert "not logged in" in page
        assert "Log out at bank" not in page
        data = (await browser.client.get("/console/accounts?format=json")).json()
        assert [one["is_connected"] for one in data["accounts"]] == [False]
    (state,) = place.service.part(Accounts).states(BOB)
    assert (state.is_connected, state.link) == (False, LINK)


async def test_an_answer_is_worth_nothing_to_another_caller(place: Bank) -> None:
    """A stolen state: whoever catches the answer of a login cannot use it in their own session."""
    async with place.browser("key-of-ann") as ann, place.browser("key-of-bob") as bob:
        answer = await agreed(await ann.begin())
        stolen = await bob.come_back(answer)
        assert stolen.status_code == 409
        assert "belongs to no login of yours" in stolen.text
        assert not place.service.part(Accounts).states(BOB)[0].is_connected
        assert (await ann.come_back(answer)).status_code == 303
    assert place.service.part(Accounts).states(ANN)[0].is_connected


async def test_a_link_gives_whoever_opens_it_their_own_account(place: Bank) -> None:
    """A stolen link: it is the same for everybody and holds no secret."""
    await place.service.execute("bank.whoami()", caller=ANN)
    async with place.browser("key-of-bob") as bob:
        assert (await bob.client.get(LINK)).status_code == 200
        assert (await bob.come_back(await agreed(await bob.begin()))).status_code == 303
    ann, bobs = (place.service.part(Accounts).states(one)[0] for one in (ANN, BOB))
    assert (ann.is_connected, bobs.is_connected) == (False, True)


async def test_a_code_of_somebody_else_cannot_be_planted(place: Bank) -> None:
    """The issuer's answer to the attacker's login, opened in the victim's browser, connects nothing."""
    async with place.browser("key-of-ann") as ann, place.browser("key-of-bob") as bob:
        planted = await agreed(await bob.begin())
        await ann.begin()
        assert (await ann.come_back(planted)).status_code == 409
    assert not place.service.part(Accounts).states(ANN)[0].is_connected


async def test_an_answer_is_taken_once(place: Bank) -> None:
    async with place.browser("key-of-ann") as ann:
        answer = await agreed(await ann.begin())
        assert (await ann.come_back(answer)).status_code == 303
        again = await ann.come_back(answer)
        assert (again.status_code, "was used before" in again.text) == (409, True)


async def test_an_answer_of_another_issuer_is_refused(place: Bank) -> None:
    async with place.browser("key-of-ann") as ann:
        answer = await agreed(await ann.begin())
        mixed = await ann.come_back(f"{answer}&iss=https%3A%2F%2Fevil.example")
        assert (mixed.status_code, "a different issuer" in mixed.text) == (409, True)
    assert not place.service.part(Accounts).states(ANN)[0].is_connected


async def test_a_login_that_was_not_begun_is_refused(place: Bank) -> None:
    async with place.browser("key-of-ann") as ann:
        refused = await ann.come_back("/console/accounts/callback?code=x&state=y")
        assert refused.status_code == 409
        assert (await ann.come_back("/console/accounts/callback")).status_code == 409


async def test_without_a_session_the_answer_leads_to_the_console_login(place: Bank) -> None:
    async with place.browser("key-of-ann") as ann:
        answer = await agreed(await ann.begin())
        ann.client.cookies.clear()
        assert (await ann.client.get(answer, follow_redirects=False)).status_code == 303
    assert not place.service.part(Accounts).states(ANN)[0].is_connected


async def test_a_login_without_a_form_token_is_refused(place: Bank) -> None:
    async with place.browser("key-of-ann") as ann:
        forged = await ann.client.post("/console/accounts/bank/mine/login", headers={"Sec-Fetch-Site": "cross-site"})
        assert forged.status_code == 403


async def test_a_login_where_there_is_none_is_refused(place: Bank) -> None:
    part = place.service.part(Accounts)
    for source, connection in (("bank", "other"), ("bonk", "mine"), ("bank", "../mine")):
        with pytest.raises(ConnectionUnknown, match="there is no connection"):
            await part.log_in(source, connection, ANN)


async def test_after_the_logout_the_next_call_waits_again(place: Bank) -> None:
    await _connect(place, "key-of-ann")
    async with place.browser("key-of-ann") as ann:
        assert (await ann.press("bank/mine/logout")).status_code == 303
    assert not place.site.provider.access
    assert (await place.service.execute("bank.whoami()", caller=ANN)).status == "paused"


async def test_another_login_does_not_continue_what_the_first_one_began(place: Bank) -> None:
    policy = {"default": {"write": "ask"}, "approvers": ["approver"]}
    async with bank(place.folder / "asking", policy=policy) as asking:
        await _connect(asking, "key-of-ann")
        paused = await asking.service.execute("bank.whoami(); bank.raise_limit(scope='read')", caller=ANN)
        assert paused.status == "paused"
        await _connect(asking, "key-of-ann")  # as somebody else, as far as codemode knows
        boss = Caller("boss", "approver")
        (waiting,) = await asking.service.executions.approvals(boss, paused.id)
        await asking.service.executions.decide([Decision(waiting.id, waiting.digest, "approved", "")], boss)
        ended = await asking.service.execute("", resume_from=paused.id, caller=ANN)
        assert ended.failure is not None
        assert "has another login than when this execution used it first" in ended.failure.message


async def test_a_declined_login_is_an_error_of_the_call(place: Bank) -> None:
    paused = await place.service.execute("bank.whoami()", caller=ANN)
    (waiting,) = paused.pending
    await place.service.executions.decide([Decision(waiting.id, waiting.digest, "declined", "")], ANN)
    ended = await place.service.execute("", resume_from=paused.id, caller=ANN)
    assert ended.failure is not None
    assert "you are not logged in at bank (mine)" in ended.failure.message


async def test_without_a_record_the_error_names_the_link(tmp_path: Path) -> None:
    async with bank(tmp_path, journal={"enabled": False}) as place:
        failed = await place.service.execute("bank.whoami()", caller=ANN)
        assert failed.failure is not None
        assert LINK in failed.failure.message


async def test_no_token_is_in_results_records_or_errors(place: Bank) -> None:
    await _connect(place, "key-of-ann")
    outcome = await place.service.execute("bank.whoami()", caller=ANN)
    assert outcome.value["token"] == "[redacted]"
    secrets = place.site.provider.secrets
    assert secrets
    for file in place.folder.rglob("*"):
        if file.is_file() and file.parent.name != "tokens":
            data = file.read_bytes()
            assert not [one for one in secrets if one != "-" and one.encode() in data], file


def _contents(folder: Path) -> list[bytes]:
    return [file.read_bytes() for file in folder.rglob("*") if file.is_file()]


async def test_sealed_tokens_are_in_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A dump of all that is stored, also of a login under way, holds no token and no secret of the client."""
    monkeypatch.setenv("LOGIN_KEY", "k" * 32)
    async with bank(tmp_path, logins={"key": {"env": "LOGIN_KEY"}}) as place:
        await _connect(place, "key-of-ann")
        async with place.browser("key-of-ann") as ann:
            address = await ann.begin()
        state = parse_qs(urlsplit(address).query)["state"][0]
        secrets = [*(one for one in place.site.provider.secrets if one != "-"), state]
        files = _contents(tmp_path)
        assert len([data for data in files if data.startswith(b"cms1")]) == 2
        assert not [one for one in secrets for data in files if one.encode() in data]
        assert (await place.service.execute("bank.whoami()['scopes']", caller=ANN)).value == ["read"]


async def test_a_sealed_login_of_another_does_not_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever can write files cannot give themselves the login of somebody else."""
    monkeypatch.setenv("LOGIN_KEY", "k" * 32)
    async with bank(tmp_path, logins={"key": {"env": "LOGIN_KEY"}}) as place:
        await _connect(place, "key-of-ann")
        names = [f"{token_name('bank', Account('mine', one.id))}.json" for one in (ANN, BOB)]
        ann, bob = (tmp_path / "state" / "tokens" / name for name in names)
        bob.write_bytes(ann.read_bytes())
        assert not place.service.part(Accounts).states(BOB)[0].is_connected


async def test_a_login_that_ends_in_the_middle_is_asked_for_again(place: Bank) -> None:
    """The issuer refuses to renew: the program waits for another login, and goes on."""
    place.site.provider.life_s = 0  # each call renews its token
    await _connect(place, "key-of-ann")
    place.site.provider.refresh.clear()
    paused = await place.service.execute("bank.raise_limit(scope='read')", caller=ANN)
    assert [call.kind for call in paused.pending] == ["login"]
    assert not place.service.part(Accounts).states(ANN)[0].is_connected
    await _connect(place, "key-of-ann")
    assert (await place.ended(paused.id, ANN)).outcome["value"] == "raised"


async def test_a_token_that_a_service_rejects_is_asked_for_again(place: Bank) -> None:
    await _connect(place, "key-of-ann")
    place.site.provider.refresh.clear()
    place.site.provider.expire()
    paused = await place.service.execute("bank.whoami()['scopes']", caller=ANN)
    assert [call.kind for call in paused.pending] == ["login"]
    await _connect(place, "key-of-ann")
    assert (await place.ended(paused.id, ANN)).outcome["value"] == ["read"]


async def test_the_same_person_may_log_in_again_while_a_program_waits(tmp_path: Path) -> None:
    """The service says who is logged in, so that codemode knows that it is the same account."""
    policy = {"default": {"write": "ask"}, "approvers": ["approver"]}
    mine = {"owner": "caller", "identity": {"path": "/whoami", "field": "resource"}}
    async with bank(tmp_path, mine=mine, policy=policy) as place:
        await _connect(place, "key-of-ann")
        (state,) = place.service.part(Accounts).states(ANN)
        assert state.identity.startswith(place.site.url)
        paused = await place.service.execute("bank.whoami(); bank.raise_limit(scope='read')", caller=ANN)
        await _connect(place, "key-of-ann")
        boss = Caller("boss", "approver")
        (waiting,) = await place.service.executions.approvals(boss, paused.id)
        assert waiting.account == f"mine ({state.identity})"
        await place.service.executions.decide([Decision(waiting.id, waiting.digest, "approved", "")], boss)
        ended = await place.service.execute("", resume_from=paused.id, caller=ANN)
        assert ended.value == "raised"
