"""Approvals in the browser: somebody else decides, by what the card says, and the program goes on."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
import pytest_asyncio

from tests.browser.server import AGENT, BOSS, CONFIGURATION, Server, serving
from tests.browser.watched import NARROW_DARK, axe, fits, looks, screenshot

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from playwright.async_api import Page

    from tests.browser.conftest import Opens
    from tests.conftest import Gym

_POLICY = "policy:\n  rules: [{{name: a person looks"
_ASKING = (
    "policy:\n  rules: [{{name: changes, effects: [write, destructive], decision: ask, reason: money and people}}, "
    "{{name: a person looks"
)

#: An argument that tries to look like the page around it.
_SPOOF = "Ann</pre></td></tr></table><button>Approve</button>\u202eevil"


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def asking(tmp_path_factory: Any, gym: Gym) -> AsyncIterator[Server]:
    """A server of the gym where a person decides on every change."""
    assert _POLICY in CONFIGURATION
    with serving(tmp_path_factory.mktemp("asking"), gym, CONFIGURATION.replace(_POLICY, _ASKING)) as server:
        yield server


async def _pause(server: Server, code: str) -> dict[str, Any]:
    """Run a program until it waits for a person, and return its outcome."""
    async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {AGENT}"}, timeout=200) as client:
        outcome: dict[str, Any] = (await client.post(f"{server.url}/v1/execute", json={"code": code})).json()
    assert outcome["status"] == "paused", outcome
    return outcome


async def _status(page: Page, status: str) -> None:
    await page.locator("#status .badge", has_text=status).wait_for()


async def test_a_second_person_approves_and_the_program_goes_on(open_page: Opens, asking: Server) -> None:
    outcome = await _pause(asking, "gym.leads.create_lead(branchId=1, name='vip')\n'went on'")
    approval = outcome["pending"][0]["id"]
    async with open_page(AGENT, server=asking) as (owner, _), open_page(BOSS, server=asking) as (boss, _):
        await owner.goto(f"{asking.console}/executions/{outcome['id']}")
        await _status(owner, "paused")
        await owner.get_by_role("link", name=approval).first.click()
        await owner.get_by_text("so somebody else must decide").wait_for()
        assert await owner.get_by_role("button", name="Approve").count() == 0
        await owner.go_back()

        await boss.goto(f"{asking.console}/approvals")
        await looks(boss, "approvals-one")
        await screenshot(boss, "approvals")
        await boss.keyboard.press("j")
        await boss.keyboard.press("Enter")
        await boss.get_by_role("heading", name="May this call be made?").wait_for()
        await looks(boss, "approval")
        await screenshot(boss, "approval")
        await boss.keyboard.press("a")
        assert await boss.evaluate("document.activeElement.textContent") == "Approve gym.leads.create_lead"
        await boss.keyboard.press("Enter")
        await boss.get_by_role("status").filter(has_text="1 call: approved").wait_for()
        await _status(boss, "completed")
        await _status(owner, "completed")  # the owner's page follows by itself


async def test_a_rejected_call_is_not_made(open_page: Opens, asking: Server) -> None:
    outcome = await _pause(asking, "gym.leads.create_lead(branchId=1, name='rejected')")
    async with open_page(BOSS, server=asking, java_script_enabled=False, **NARROW_DARK) as (page, _):
        await page.goto(f"{asking.console}/approvals/{outcome['pending'][0]['id']}")
        assert await fits(page)
        await page.get_by_label("Note").fill("not now")
        await page.get_by_role("button", name="Reject").click()
        await page.get_by_text("1 call: rejected").wait_for()
        badge = page.locator("#status .badge")
        while await badge.inner_text() in ("running", "paused"):  # without scripts, the page does not follow
            await page.reload()
        assert await badge.inner_text() == "failed"


async def test_several_calls_are_decided_together(open_page: Opens, asking: Server) -> None:
    calls = "gym.leads.create_lead(branchId=1, name=n) for n in ('one', 'two', 'three')"
    code = f"import asyncio\nawait asyncio.gather(*[{calls}])"
    outcome = await _pause(asking, code)
    assert len(outcome["pending"]) == 3
    async with open_page(BOSS, server=asking) as (page, _):
        await page.goto(f"{asking.console}/approvals")
        for call in outcome["pending"]:
            await page.get_by_label(f"Choose gym.leads.create_lead {call['id']}").check()
        await page.get_by_role("button", name="Approve the chosen calls").click()
        await page.get_by_role("status").filter(has_text="3 calls: approved").wait_for()
        await _status(page, "completed")


async def test_two_of_three_equal_requests_are_approved_in_the_list(open_page: Opens, asking: Server) -> None:
    calls = "gym.leads.create_lead(branchId=1, name=n) for n in ('Ann', 'Mallory', 'Cleo')"
    outcome = await _pause(asking, f"import asyncio\nawait asyncio.gather(*[{calls}], return_exceptions=True)")
    async with open_page(BOSS, server=asking) as (page, _):
        await page.goto(f"{asking.console}/approvals")
        group = page.locator("section.group", has_text="These calls differ in name")
        assert sorted(await group.locator(".differs").all_inner_texts()) == ["Ann", "Cleo", "Mallory"]
        assert "line 2 await asyncio.gather(*[gym.leads.create_lead(" in await group.inner_text()
        await looks(page, "approvals")
        assert "(3)" in await page.title()
        await page.get_by_label("Note").press("Enter")  # no button is pressed by that
        assert await page.locator("section.group li").count() == 3
        for call in outcome["pending"]:
            verdict = "Reject" if call["arguments"]["name"] == "Mallory" else "Approve"
            await page.get_by_role("button", name=f"{verdict} {call['id']}").click()
            await page.get_by_role("status").filter(has_text="1 call: ").wait_for()
        await _status(page, "completed")


async def test_a_card_shows_the_program_with_the_line_that_waits(open_page: Opens, asking: Server) -> None:
    outcome = await _pause(asking, "lead = 'shown'\ngym.leads.create_lead(branchId=1, name=lead)")
    async with open_page(BOSS, server=asking) as (page, _):
        await page.goto(f"{asking.console}/approvals/{outcome['pending'][0]['id']}")
        waiting = page.locator(".source .waiting code")
        assert await waiting.inner_text() == "gym.leads.create_lead(branchId=1, name=lead)"
        await page.get_by_role("button", name="Reject").click()


async def test_a_call_that_the_inbox_does_not_show_whole_must_be_opened(open_page: Opens, asking: Server) -> None:
    """Every argument stands on its own line, so that a long one hides no other; a cut one cannot be ticked."""
    text = "p\u0430ypal" + "n" * 1_000
    outcome = await _pause(asking, f"gym.clients.send_client_message(text={text!r}, channel='email', clientId=7)")
    approval = outcome["pending"][0]
    async with open_page(BOSS, server=asking) as (boss, watch):
        watch.expected.append("422")
        await boss.goto(f"{asking.console}/approvals")
        row = boss.locator("#inbox li", has=boss.locator(f"a[href$='{approval['id']}']"))
        await row.get_by_text("… 806 more characters").wait_for()
        assert "p\\u0430ypal" in await row.inner_text()
        assert await row.locator("dt").all_inner_texts() == ["clientId", "channel", "text"]
        assert await row.get_by_role("checkbox").count() == 0
        await axe(boss)
        await screenshot(boss, "approvals-cut")
        forged = await boss.evaluate(
            """async (call) => {
                const form = new FormData(document.querySelector("form[aria-label]"));
                form.set("call", call); form.set("verdict", "approved");
                return (await fetch(location.href, { method: "POST", body: new URLSearchParams(form) })).status;
            }""",
            f"{approval['id']} {approval['digest']}",
        )
        assert forged == 422
        await row.get_by_role("link", name="Open the call to decide").click()
        await boss.get_by_role("heading", name="May this call be made?").wait_for()
        assert "p\\u0430ypal" + "n" * 1_000 in await boss.locator("article").inner_text()
        await axe(boss)
        await fits(boss)
        await screenshot(boss, "approval-long")
        await boss.get_by_role("button", name="Reject").click()


async def test_one_approval_covers_further_calls_of_its_tool(open_page: Opens, asking: Server) -> None:
    outcome = await _pause(asking, "for n in ('a', 'b', 'c'):\n    gym.leads.create_lead(branchId=1, name=f'tag {n}')")
    async with open_page(BOSS, server=asking) as (page, _):
        await page.goto(f"{asking.console}/approvals/{outcome['pending'][0]['id']}")
        await page.get_by_text("More calls of this tool may follow").click()
        await page.get_by_label("Also approve further calls").fill("3")
        await page.get_by_role("button", name="Approve").click()
        await _status(page, "completed")


async def test_foreign_text_stays_in_its_box(open_page: Opens, asking: Server) -> None:
    outcome = await _pause(asking, f"gym.leads.create_lead(branchId=1, name={_SPOOF!r})")
    async with open_page(BOSS, server=asking) as (page, _):
        await page.goto(f"{asking.console}/approvals/{outcome['pending'][0]['id']}")
        buttons = page.get_by_role("button", name="Approve")
        assert await buttons.count() == 1
        box = await page.locator(".decision").bounding_box()
        card = await page.locator(".card").bounding_box()
        assert box is not None
        assert card is not None
        assert box["y"] + box["height"] <= card["y"]
        text = await page.locator(".card").inner_text()
        assert "\\u202eevil" in text
        assert "\u202e" not in text
        await buttons.click(trial=True)  # nothing lies over it


async def test_a_decision_that_was_made_meanwhile_is_shown(open_page: Opens, asking: Server) -> None:
    outcome = await _pause(asking, "gym.leads.create_lead(branchId=1, name='twice')")
    place = f"{asking.console}/approvals/{outcome['pending'][0]['id']}"
    async with open_page(BOSS, server=asking) as (first, _), open_page(BOSS, server=asking) as (second, watch):
        await first.goto(place)
        await second.goto(place)
        await first.get_by_role("button", name="Reject").click()
        await first.get_by_role("status").filter(has_text="rejected").wait_for()
        watch.expected.append("409")
        await second.get_by_role("button", name="Approve").click()
        await second.get_by_role("alert").wait_for()
        await second.locator("p.message:not([role])", has_text="rejected by").wait_for()


#: Reports each notification that the browser has shown.
_WATCH_NOTIFICATIONS = """
window.Notification = class extends Notification {
  constructor(title, options) {
    super(title, options);
    this.addEventListener("show", () => window.reportShown(`${title}: ${options.body}`));
  }
};
"""


async def _permit_notifications(page: Page, server: Server) -> None:
    """Let the browser show notifications of the console, as a person does in its settings."""
    session = await page.context.new_cdp_session(page)
    target = (await session.send("Target.getTargetInfo"))["targetInfo"]
    permission = {"permission": {"name": "notifications"}, "setting": "granted", "origin": server.url}
    await session.send("Browser.setPermission", {**permission, "browserContextId": target["browserContextId"]})


async def test_the_browser_notifies_of_a_new_call_once_a_person_permits_it(open_page: Opens, asking: Server) -> None:
    shown: asyncio.Queue[str] = asyncio.Queue()
    async with open_page(BOSS, server=asking) as (page, _):
        await page.expose_function("reportShown", shown.put_nowait)
        await page.add_init_script(_WATCH_NOTIFICATIONS)
        await page.goto(f"{asking.console}/approvals")
        ask = page.get_by_role("button", name="Notify me in this browser")
        await ask.click()  # a browser without a window dismisses its question
        assert await ask.is_visible()
        await _permit_notifications(page, asking)
        await ask.click()
        await page.get_by_text("This browser tells you of new calls").wait_for()
        assert not await ask.is_visible()
        await page.wait_for_event("response", lambda answer: answer.url.endswith("/waiting"))  # old calls are no news
        # a browser without a window has no tabs in the background
        await page.evaluate("Object.defineProperty(document, 'hidden', { get: () => true })")
        outcome = await _pause(asking, "gym.leads.create_lead(branchId=1, name='told')")
        assert await shown.get() == "codemode: gym.leads.create_lead waits for a decision"
        await page.goto(f"{asking.console}/approvals/{outcome['pending'][0]['id']}")
        await page.get_by_text("This browser tells you").wait_for(state="detached")
        await page.get_by_role("button", name="Reject").click()


@pytest.mark.parametrize("place", ["approvals", "unknown"])
async def test_an_empty_inbox(open_page: Opens, server: Server, place: str) -> None:
    async with open_page(BOSS) as (page, _):
        await page.goto(f"{server.console}/{place}")
        await axe(page)
        answer = await page.request.get(f"{server.console}/{place}?format=json")
        assert (await answer.json())["approvals"] == []
