"""What is recorded of calls after menus, and the defaults that it proposes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from codemode.menus.usage import MenuUsage, ToolUse, propose_menu
from codemode.service import CodeMode
from codemode.settings import Settings
from tests.unit.codemode.menus.conftest import menu_for, tools_in

if TYPE_CHECKING:
    from pathlib import Path

    from tests.unit.codemode.menus.conftest import Made

MENU: dict[str, Any] = {
    "core": ["app.core.*"],
    "defaults": ["mail"],
    "categories": {name: {"keywords": [name]} for name in ("mail", "files", "rooms")},
}
TOOLS = tools_in({"core": 1, "mail": 2, "files": 2, "rooms": 1})


async def test_a_call_is_recorded_with_the_way_it_was_offered(make_selector: Made, tmp_path: Path) -> None:
    selector = make_selector(TOOLS, MENU)
    usage = MenuUsage(tmp_path / "state" / "usage.jsonl")
    usage.called("app.mail.do_000", who="nobody")
    usage.offered(await menu_for(selector, "the files"), who="me")
    for tool in ("app.files.do_000", "app.core.do_000", "app.rooms.do_000"):
        usage.called(tool, who="me")
    usage.offered(await menu_for(selector, "hello"), who="me")
    usage.called("app.mail.do_000", who="me")
    assert usage.read() == [
        ToolUse("app.files.do_000", "keyword", unmatched=False),
        ToolUse("app.core.do_000", "core", unmatched=False),
        ToolUse("app.rooms.do_000", "not offered", unmatched=False),
        ToolUse("app.mail.do_000", "default", unmatched=True),
    ]
    assert (tmp_path / "state" / "usage.jsonl").stat().st_mode & 0o077 == 0


async def test_the_record_is_bounded_and_what_is_none_is_left_out(make_selector: Made, tmp_path: Path) -> None:
    usage = MenuUsage(tmp_path / "usage.jsonl", largest_bytes=1_000)
    usage.offered(await menu_for(make_selector(TOOLS, MENU), "hello"), who="me")
    for number in range(200):
        usage.called(f"tool_{number}", who="me")
    found = usage.read()
    assert found[-1].tool == "tool_199"
    assert len(found) < 30
    (tmp_path / "usage.jsonl").write_text('{"tool": 1}\nno\n{"tool": "a", "by": "core", "unmatched": false}\n')
    assert usage.read() == [ToolUse("a", "core", unmatched=False)]
    assert MenuUsage(tmp_path / "none").read() == []


def test_defaults_are_proposed_from_the_calls_that_no_word_asked_for(make_selector: Made) -> None:
    selector = make_selector(TOOLS, MENU)
    used = [ToolUse("app.files.do_000", "not offered", unmatched=True)] * 30
    used += [ToolUse("app.mail.do_000", "default", unmatched=True)] * 10
    used += [ToolUse("app.rooms.do_000", "keyword", unmatched=False)] * 2
    used += [ToolUse("gone", "not offered", unmatched=True)] * 9
    proposal = propose_menu(used, selector)
    assert proposal is not None
    assert (proposal.calls, proposal.now, proposal.proposed) == (40, 0.25, 0.75)
    assert proposal.defaults == ("files",)
    assert proposal.core == ("app.files.do_000", "app.mail.do_000")
    assert proposal.worthwhile


def test_too_few_calls_propose_nothing_and_good_defaults_are_kept(make_selector: Made) -> None:
    selector = make_selector(TOOLS, MENU)
    assert propose_menu([ToolUse("app.files.do_000", "requested", unmatched=False)] * 19, selector) is None
    proposal = propose_menu([ToolUse("app.mail.do_000", "default", unmatched=True)] * 20, selector)
    assert proposal is not None
    assert not proposal.worthwhile


async def test_a_service_records_what_was_called_after_a_menu_unless_it_shall_not(tmp_path: Path) -> None:
    def find_order(number: int) -> int:
        """Find an order."""
        return number

    for record in (True, False):
        state = tmp_path / str(record)
        menu = {"record_usage": record}
        folders = {"state_folder": state, "cache_folder": tmp_path / "cache"}
        settings = Settings.model_validate({"menu": menu, **folders})
        async with CodeMode.from_settings(settings, functions={"shop": [find_order]}) as service:
            await service.select_menu("an order")
            assert (await service.execute("shop.find_order(number=7)")).value == 7
            assert await service.discovery.propose_menu() is None
        file = settings.learned() / "menu-usage.jsonl"
        assert file.exists() == record
        if record:
            assert json.loads(file.read_text()) == {"tool": "shop.find_order", "by": "list", "unmatched": False}
