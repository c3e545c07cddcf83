"""Conversations whose models ask for more tools."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from codemode.menus.session import MenuSession
from tests.unit.codemode.menus.conftest import tools_in

if TYPE_CHECKING:
    from codemode.menus.selection import Selector
    from tests.unit.codemode.menus.conftest import Made

MENU: dict[str, Any] = {
    "core": ["app.core.*"],
    "categories": {name: {"keywords": [name]} for name in ("mail", "files", "rooms")},
}


def session_over(selector: Selector, **more: Any) -> MenuSession:
    async def of() -> Selector:
        return selector

    return MenuSession(of, **more)


def call(name: str, arguments: Any, id_: str = "c1") -> dict[str, Any]:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return {"id": id_, "type": "function", "function": {"name": name, "arguments": text}}


def more(*categories: str) -> dict[str, Any]:
    return call("request_more_tools", {"categories": list(categories), "reason": "to do it"})


def made(make_selector: Made, **menu: Any) -> Selector:
    return make_selector(tools_in({"core": 1, "mail": 2, "files": 2, "rooms": 1}), {**MENU, **menu})


async def test_more_tools_are_loaded_and_stay_at_hand(make_selector: Made) -> None:
    session = session_over(made(make_selector))
    menu = await session.offer("a mail")
    listed = menu.openai_tools()[0]["function"]["parameters"]["properties"]["categories"]["items"]["enum"]
    assert listed == ["files", "mail", "rooms"]
    answer = await session.handle(more("files", "mail"))
    assert answer is not None
    assert answer.text == "Loaded 2 tools: app-files-do_000, app-files-do_001."
    assert answer.loaded == ("app.files.do_000", "app.files.do_001")
    assert answer.event() == {
        "type": "tools_requested",
        "tool": "request_more_tools",
        "arguments": {"categories": ["files", "mail"], "reason": "to do it"},
        "loaded": ["app.files.do_000", "app.files.do_001"],
        "text": answer.text,
    }
    again = await session.offer("and the rooms")
    assert again.names == (
        *("request_more_tools", "request_tool", "app-core-do_000", "app-rooms-do_000"),
        *("app-files-do_000", "app-files-do_001", "app-mail-do_000", "app-mail-do_001"),
    )


async def test_nothing_is_added_where_there_is_nothing_new(make_selector: Made) -> None:
    session = session_over(made(make_selector))
    await session.offer("a mail")
    texts = []
    for asked in (more("mail"), more("post"), more(), call("request_more_tools", "{"), more("files"), more("files")):
        answer = await session.handle(asked)
        assert answer is not None
        texts.append(answer.text)
    assert texts == [
        "No new tools added: they are loaded already.",
        "No new tools added: there is no category 'post'; there are: files, mail, rooms",
        "No new tools added: name the categories; there are: files, mail, rooms",
        "No new tools added: the arguments are not JSON: Expecting property name enclosed in double quotes: "
        "line 1 column 2 (char 1)",
        "Loaded 2 tools: app-files-do_000, app-files-do_001.",
        "No new tools added: they are loaded already.",
    ]


async def test_what_is_unknown_among_what_is_loaded_is_told(make_selector: Made) -> None:
    session = session_over(made(make_selector))
    await session.offer("a mail")
    answer = await session.handle(more("rooms", "fax"))
    assert answer is not None
    assert answer.text == "Loaded 1 tool: app-rooms-do_000. There is no category 'fax'."


async def test_a_tool_is_loaded_by_name_or_by_what_it_does(make_selector: Made) -> None:
    session = session_over(made(make_selector))
    await session.offer("hello")
    answer = await session.handle(name="request_tool", arguments={"name_or_description": "app-files-do_001"})
    assert answer is not None
    assert answer.loaded == ("app.files.do_001",)
    answer = await session.handle(name="request_tool", arguments={"name_or_description": "rooms number"})
    assert answer is not None
    assert answer.loaded[0] == "app.rooms.do_000"
    answer = await session.handle(name="request_tool", arguments={"name_or_description": "xyzzy"})
    assert answer is not None
    assert answer.text == "No new tools added: no tool matches 'xyzzy'; use other words."


async def test_a_search_for_a_tool_says_what_speaks_against_its_hits(make_selector: Made) -> None:
    session = session_over(made(make_selector))
    await session.offer("hello")
    asked = {"name_or_description": "rooms with a jacuzzi"}
    texts = [answer.text for _ in range(2) if (answer := await session.handle(name="request_tool", arguments=asked))]
    assert "o tool has 'jacuzzi'; nearest: loaded " in texts[0]
    assert "app-rooms-do_000" in texts[1]
    assert texts[1].endswith(" loaded already.")


async def test_other_calls_are_none_of_its_business_and_every_tool_is_known(make_selector: Made) -> None:
    session = session_over(made(make_selector))
    menu = await session.offer("hello")
    assert len(menu) == 3
    assert await session.handle(call("app-mail-do_000", {})) is None
    tool = session.tool("app-mail-do_000")
    assert tool is not None
    assert tool.id == "app.mail.do_000"
    assert session.is_meta("request_tool")
    assert not session.is_meta("app-mail-do_000")


async def test_a_session_made_anew_goes_on_from_the_history(make_selector: Made) -> None:
    selector = made(make_selector)
    first = session_over(selector)
    before = await first.offer("a mail")
    asked = more("files")
    await first.handle(asked)
    continued = await first.offer("a mail")
    history = [
        {"role": "user", "content": "a mail"},
        {"role": "assistant", "content": None, "tool_calls": [asked]},
        {"role": "tool", "tool_call_id": "c1", "content": "Loaded"},
    ]
    assert (await session_over(selector).offer("a mail", history)).names == continued.names
    assert len(continued) == len(before) + 2


async def test_loads_count_and_evict_the_least_relevant(make_selector: Made) -> None:
    session = session_over(made(make_selector, cap=6))
    menu = await session.offer("mail and rooms")
    assert (len(menu), menu.cut) == (6, ())
    answer = await session.handle(more("files"))
    assert answer is not None
    assert len(answer.loaded) == 2
    menu = await session.offer("mail and rooms")
    assert len(menu) == 6
    assert set(answer.loaded) <= {tool.id for tool in menu.tools}
    assert len(menu.cut) == 2
    assert "cut: " in menu.summary
    gone = next(tool for tool in ("app.mail.do_000", "app.mail.do_001", "app.rooms.do_000")
                if tool not in {one.id for one in menu.tools})  # fmt: skip
    again = await session.handle(name="request_tool", arguments={"name_or_description": gone})
    assert again is not None
    assert again.loaded == (gone,)


async def test_what_has_no_room_is_told(make_selector: Made) -> None:
    session = session_over(make_selector(tools_in({"mail": 9, "files": 1}), {"cap": 5, "categories": {
        "mail": {"tools": ["app.mail.*"], "keywords": ["mail"]}, "files": {"keywords": ["file"]}}}))  # fmt: skip
    await session.offer("file")
    answer = await session.handle(more("mail"))
    assert answer is not None
    assert answer.text == (
        "Loaded 3 tools: app-mail-do_000, app-mail-do_001, app-mail-do_002. "
        "There is no room for 6 more: ask for one of them with what it should do."
    )
    assert len(await session.offer("file")) == 5


async def test_meta_tools_that_are_switched_off_are_neither_offered_nor_answered(make_selector: Made) -> None:
    session = session_over(made(make_selector, request_more_tools=False, request_tool=False))
    menu = await session.offer("a mail")
    assert (menu.meta, menu.prompt) == ((), "")
    answer = await session.handle(more("files"))
    assert answer is not None
    assert answer.text == "No new tools added: request_more_tools is switched off"


async def test_who_answers_no_meta_tools_is_offered_them_only_where_the_settings_say_so(make_selector: Made) -> None:
    alone = session_over(made(make_selector), answers=False)
    assert (await alone.offer("a mail")).meta == ()
    asked = session_over(made(make_selector, request_more_tools=True), answers=False)
    assert (await asked.offer("a mail")).names[0] == "request_more_tools"


async def test_the_prompt_has_the_note_and_the_skills_of_what_is_loaded(make_selector: Made) -> None:
    categories = {
        "mail": {"keywords": ["mail"], "instructions": "Be polite.", "examples": ["answer the last mail"]},
        "files": {"keywords": ["file"], "instructions": "Ask before deleting.", "description": "Papers"},
    }
    selector = make_selector(tools_in({"mail": 1, "files": 1}), {"categories": categories, "namespaces": True})
    session = session_over(selector)
    note = (
        "Only the tools that seem needed are loaded. If one is missing, call request_more_tools with the categories "
        "that have it, or call request_tool with its name or what it should do; then go on."
    )
    directory = "Categories of tools:\n- mail (1 tool)\n- files (1 tool): Papers"
    mail = "mail: Be polite.\n\nmail, example: answer the last mail"
    assert (await session.offer("a mail")).prompt == f"{note}\n\n{mail}\n\n{directory}"
    await session.handle(more("files"))
    assert (await session.offer("a mail")).prompt == f"{note}\n\n{mail}\n\nfiles: Ask before deleting.\n\n{directory}"


async def test_a_long_list_of_categories_is_no_enumeration(make_selector: Made) -> None:
    session = session_over(make_selector(tools_in({f"group{number:03}": 1 for number in range(120)}), {}))
    menu = await session.offer("hello")
    function = menu.openai_tools()[0]["function"]
    assert function["parameters"]["properties"]["categories"]["items"] == {"type": "string"}
    assert function["description"].endswith("app.group099 and 20 more")
    answer = await session.handle(more("app.group119"))
    assert answer is not None
    assert answer.text == "Loaded 1 tool: app-group119-do_000."
