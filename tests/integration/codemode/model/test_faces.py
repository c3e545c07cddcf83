"""The same call has the same answer on every face: in Python, over HTTP and MCP, by an agent, and in one's own loop."""

from __future__ import annotations

import json
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
from mcp import Client

from codemode import Caller, CodeMode, Decision, Settings, tool
from codemode.errors import CodeModeError
from codemode.features.plans.plans import Plans
from codemode.model.definitions import Offer
from codemode.serving.agent.toolbox import Toolbox
from codemode.serving.application.app import create_app
from codemode.serving.auth.callers import Callers
from codemode.serving.auth.keys import KeyFile
from codemode.serving.mcp.server import McpServer
from codemode.settings import AgentSettings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from pathlib import Path

    Row = Callable[["Shop", Callable[..., Awaitable["Told"]]], Awaitable[None]]

CLERK, BOSS = Caller("clerk"), Caller("boss", "approver")
FILE = b"a,b\n1,2\n"


@dataclass(frozen=True)
class Told:
    """What a face answered: how the call ended, the value, the notes, the execution, and what a model reads."""

    status: str
    value: Any = None
    notes: tuple[str, ...] = ()
    execution: str = ""
    text: str = ""


class Face:
    """Calls `search` and `execute` in one way."""

    #: Whether the face takes what clients add, and null for what they leave out.
    is_liberal = True

    async def call(self, name: str, arguments: dict[str, Any], conversation: str) -> Told:
        raise NotImplementedError


def of_outcome(data: dict[str, Any], text: str = "") -> Told:
    return Told(data["status"], data.get("value"), tuple(data.get("notes", ())), data["id"], text)


class InPython(Face):
    is_liberal = False

    def __init__(self, service: CodeMode, _: Path, __: AsyncExitStack) -> None:
        self._service = service

    async def call(self, name: str, arguments: dict[str, Any], conversation: str) -> Told:
        try:
            if name == "search":
                return Told("answered", text=(await self._service.search(**arguments, caller=CLERK)).text)
            ended = await self._service.execute(**arguments, caller=CLERK, conversation=conversation)
        except CodeModeError as error:
            return Told("rejected", text=str(error))
        return of_outcome(ended.to_json())


class OwnLoop(Face):
    def __init__(self, service: CodeMode, _: Path, __: AsyncExitStack) -> None:
        self._service = service

    async def call(self, name: str, arguments: dict[str, Any], conversation: str) -> Told:
        answer = await self._service.tools(CLERK, conversation).call(name, arguments)
        if answer.outcome is None:
            return Told(answer.status, text=answer.text)
        return of_outcome(answer.outcome.to_json(), answer.text)


class ByAgent(Face):
    def __init__(self, service: CodeMode, _: Path, __: AsyncExitStack) -> None:
        self._service = service

    async def call(self, name: str, arguments: dict[str, Any], conversation: str) -> Told:
        toolbox = Toolbox(self._service, AgentSettings(), CLERK, {}, conversation)
        answer = await toolbox.call(name, arguments, Offer())
        if answer.outcome is None:
            return Told(answer.status, text=answer.text)
        return of_outcome(answer.outcome.to_json(), answer.text)


class OverMcp(Face):
    def __init__(self, service: CodeMode, _: Path, __: AsyncExitStack) -> None:
        self._server = McpServer(service, caller_of=lambda _: CLERK).server

    async def call(self, name: str, arguments: dict[str, Any], conversation: str) -> Told:
        async with Client(self._server) as client:
            meta: Any = {"codemode/conversation": conversation} if conversation else None
            result = await client.call_tool(name, arguments, meta=meta)
        text = "\n".join(block.text for block in result.content if block.type == "text")
        if result.structured_content is None:
            return Told("rejected" if result.is_error else "answered", text=text)
        notes = [line.removeprefix("note: ") for line in text.splitlines() if line.startswith("note: ")]
        return of_outcome({**result.structured_content, "notes": notes}, text)


class OverHttp(Face):
    def __init__(self, service: CodeMode, folder: Path, stack: AsyncExitStack, *, wait_s: float | None = None) -> None:
        self._app = create_app(service, Callers({"a-key": CLERK}, KeyFile(folder / "keys.json")))
        self._more = {} if wait_s is None else {"wait_s": wait_s}

    async def call(self, name: str, arguments: dict[str, Any], conversation: str) -> Told:
        transport = httpx2.ASGITransport(self._app)
        async with httpx2.AsyncClient(transport=transport, base_url="http://testserver") as client:
            more = {**({"conversation": conversation} if conversation else {}), **self._more}
            body = arguments if name == "search" else {**arguments, **more}
            if body.get("dry_run") or body.get("dryRun"):
                body.pop("wait_s", None)
            headers = {"Authorization": "Bearer a-key", "Content-Type": "application/json"}
            answer = await client.post(f"/v1/{name}", content=json.dumps(body), headers=headers)
        data = answer.json()
        if answer.status_code >= 400:
            return Told("rejected", text=data["detail"])
        return Told("answered", text=data["text"]) if name == "search" else of_outcome(data)


class OverHttpInBackground(OverHttp):
    def __init__(self, service: CodeMode, folder: Path, stack: AsyncExitStack) -> None:
        super().__init__(service, folder, stack, wait_s=60)


FACES = (InPython, OwnLoop, ByAgent, OverMcp, OverHttp, OverHttpInBackground)


class Shop:
    """A service in which paying needs a person."""

    def __init__(self, service: CodeMode, paid: list[int]) -> None:
        self.service = service
        self.paid = paid

    async def paused(self, *, approved: bool) -> str:
        """Return the id of an execution that waits, or was approved."""
        outcome = await self.service.execute("shop.pay(amount=5)", caller=CLERK)
        (call,) = outcome.pending
        if approved:
            await self.service.executions.decide([Decision(call.id, call.digest, "approved", by="")], BOSS)
        return outcome.id

    async def ended(self) -> str:
        return (await self.service.execute("n = shop.price()\nn", caller=CLERK)).id


@asynccontextmanager
async def shop_at(folder: Path, **more: Any) -> AsyncIterator[Shop]:
    paid: list[int] = []

    @tool(effect="write")
    def pay(amount: int) -> int:
        """Pay an amount."""
        paid.append(amount)
        return amount

    @tool(effect="read")
    def price() -> int:
        """Return the price."""
        return 3

    @tool(effect="read")
    def report() -> dict[str, Any]:
        """Return a report with a file."""
        return {"file": FILE}

    folders = {"state_folder": folder / "state", "cache_folder": folder / "cache"}
    settings = Settings.model_validate({**folders, "policy": {"default": {"write": "ask"}}, **more})
    async with CodeMode.from_settings(settings, functions={"shop": [pay, price, report]}) as service:
        yield Shop(service, paid)


async def a_filter_that_fits_no_tool_is_left_out(shop: Shop, call: Any) -> None:
    told = await call("search", queries=["pay"], namespace="shopp")
    assert told.text.startswith("# no tool has the namespace 'shopp'")
    assert "Searched without it:\nshop.pay(" in told.text


async def a_program_runs(shop: Shop, call: Any) -> None:
    told = await call("execute", code="shop.price() + 1")
    assert (told.status, told.value) == ("completed", 4)


#: Texts without a program, as models write them where a tool wants `code`.
NO_PROGRAMS = (
    "",
    "  \n",
    "# continue",
    "```python\n\n```",
    "<think>It was approved.</think>",
    "Continue the approved execution.",
    "pass",
    '""',
    "\u200b",
)


async def an_empty_program_never_runs(shop: Shop, call: Any) -> None:
    for code in NO_PROGRAMS:
        told = await call("execute", code=code)
        assert told.status == "rejected", code
        assert "give code, a Python program" in told.text


async def an_empty_program_of_any_form_continues(shop: Shop, call: Any) -> None:
    for code in NO_PROGRAMS:
        execution = await shop.paused(approved=True)
        told = await call("execute", code=code, resume_from=execution)
        assert (told.status, told.value, told.execution) == ("completed", 5, execution), code


async def what_waits_is_shown_again(shop: Shop, call: Any) -> None:
    execution = await shop.paused(approved=False)
    told = await call("execute", code="", resume_from=execution)
    assert (told.status, told.execution, shop.paid) == ("paused", execution, [])


async def what_was_decided_continues(shop: Shop, call: Any) -> None:
    execution = await shop.paused(approved=True)
    told = await call("execute", code="", resume_from=execution)
    assert (told.status, told.value, told.execution, shop.paid) == ("completed", 5, execution, [5])


async def what_was_decided_continues_with_its_own_program(shop: Shop, call: Any) -> None:
    execution = await shop.paused(approved=True)
    told = await call("execute", code="shop.pay(amount=5)\n", resume_from=execution)
    assert (told.status, told.value, told.execution, shop.paid) == ("completed", 5, execution, [5])


async def what_is_open_continues_instead_of_another_program(shop: Shop, call: Any) -> None:
    waits = await call("execute", code="shop.price()", resume_from=await shop.paused(approved=False))
    assert (waits.status, shop.paid) == ("paused", [])
    assert "the program sent with it did not run" in "\n".join(waits.notes)
    execution = await shop.paused(approved=True)
    told = await call("execute", code="shop.pay(amount=5) + 1", resume_from=execution)
    assert (told.status, told.value, told.execution, shop.paid) == ("completed", 5, execution, [5])
    assert "the program sent with it did not run" in "\n".join(told.notes)


async def what_has_ended_answers_its_outcome(shop: Shop, call: Any) -> None:
    execution = await shop.ended()
    for _ in range(2):
        told = await call("execute", code="", resume_from=execution)
        assert (told.status, told.value, told.execution) == ("completed", 3, execution)


async def what_has_ended_is_repaired_with_code(shop: Shop, call: Any) -> None:
    execution = await shop.ended()
    told = await call("execute", code="shop.price() * 2", resume_from=execution)
    assert (told.status, told.value) == ("completed", 6)
    assert told.execution != execution


async def a_dry_run_sends_no_writes(shop: Shop, call: Any) -> None:
    told = await call("execute", code="shop.pay(amount=1)\n'end'", dry_run=True)
    assert (told.status, told.value, shop.paid) == ("completed", "end", [])


async def a_dry_run_of_an_execution_only_looks(shop: Shop, call: Any) -> None:
    execution = await shop.paused(approved=True)
    told = await call("execute", code="", resume_from=execution, dry_run=True)
    assert (told.status, told.execution, shop.paid) == ("paused", execution, [])
    assert "decided: it continues without dry_run" in told.notes
    assert "a person must decide" not in told.text


async def what_was_cancelled_asks_nobody(shop: Shop, call: Any) -> None:
    execution = await shop.paused(approved=False)
    await shop.service.executions.cancel(execution, CLERK)
    told = await call("execute", code="", resume_from=execution)
    assert (told.status, told.execution, shop.paid) == ("cancelled", execution, [])
    assert "a person must decide" not in told.text


async def a_dry_run_repairs_nothing(shop: Shop, call: Any) -> None:
    told = await call("execute", code="1", resume_from=await shop.ended(), dry_run=True)
    assert told.status == "rejected"
    assert "dry_run and resume_from exclude each other: leave one of them out" in told.text


async def an_approved_plan_runs_by_its_id(shop: Shop, call: Any) -> None:
    plan = (await shop.service.execute("shop.pay(amount=2)", caller=CLERK, dry_run=True)).plan
    waits = await call("execute", code="", resume_from=plan)
    assert waits.status == "rejected"
    assert f"{plan} waits for a person" in waits.text
    card = await shop.service.part(Plans).get(plan, BOSS)
    await shop.service.part(Plans).decide(plan, card.digest, "approved", BOSS)
    told = await call("execute", code="", resume_from=plan)
    assert (told.status, told.value, shop.paid) == ("completed", 2, [2])


async def an_unknown_execution_is_named(shop: Shop, call: Any) -> None:
    told = await call("execute", code="", resume_from="ex_none")
    assert told.status == "rejected"
    assert "there is no execution 'ex_none'" in told.text


async def a_returned_file_is_loaded(shop: Shop, call: Any) -> None:
    told = await call("execute", code="load(shop.report()['file']['$content'])")
    assert (told.status, told.value) == ("completed", FILE.decode())


async def an_uploaded_file_is_loaded(shop: Shop, call: Any) -> None:
    reference = await shop.service.keep_content(FILE, "text/csv", caller=CLERK)
    told = await call("execute", code=f"load({reference['$content']!r})")
    assert (told.status, told.value) == ("completed", FILE.decode())


async def a_mistyped_argument_is_named(shop: Shop, call: Any) -> None:
    for name, arguments in {"execute": {"code": "1", "dry_rum": True}, "search": {"queries": "x", "limits": 3}}.items():
        told = await call(name, **arguments)
        assert told.status == "rejected"
        assert "did you mean" in told.text


async def null_is_absent(shop: Shop, call: Any) -> None:
    told = await call("execute", code="1 + 1", resume_from=None, dry_run=None)
    assert (told.status, told.value) == ("completed", 2)
    told = await call("search", queries=["pay"], namespace=None, detail=None, limit=None)
    assert "shop.pay(" in told.text


async def the_word_for_no_value_is_absent(shop: Shop, call: Any) -> None:
    told = await call("execute", code="1 + 1", resume_from="null", dry_run="None")
    assert (told.status, told.value) == ("completed", 2)
    told = await call("search", queries=["pay"], limit="null", effect="", detail="undefined")
    assert "shop.pay(" in told.text


async def what_clients_add_is_ignored_with_a_note(shop: Shop, call: Any) -> None:
    more = {"toolCallId": "1", "sessionId": "s", "action": "send", "chatInput": "hi", "tool": "execute", "_meta": {}}
    told = await call("execute", code="1 + 1", **more)
    assert (told.status, told.value) == ("completed", 2)
    assert "ignored unknown arguments: _meta, action, chatInput, sessionId, tool and 1 more" in "\n".join(told.notes)
    told = await call("search", queries=["pay"], **more, language="en")
    assert told.text.startswith("# ignored unknown arguments: ")
    assert "shop.pay(" in told.text


async def a_list_as_json_text_is_a_list(shop: Shop, call: Any) -> None:
    told = await call("search", queries='["pay an amount", "price"]')
    assert "shop.pay(" in told.text
    assert "shop.price(" in told.text


async def a_list_of_one_value_is_the_value(shop: Shop, call: Any) -> None:
    execution = await shop.ended()
    told = await call("execute", code="", resume_from=[execution])
    assert (told.value, told.execution) == (3, execution)
    for namespace in (["shop"], '["shop"]'):
        told = await call("search", queries="pay", namespace=namespace, limit="5")
        assert told.text.startswith("shop.pay(")


async def query_is_queries(shop: Shop, call: Any) -> None:
    assert "shop.pay(" in (await call("search", query="pay")).text


async def other_spellings_are_ours(shop: Shop, call: Any) -> None:
    execution = await shop.ended()
    told = await call("execute", code="", resumeFrom=execution)
    assert (told.value, told.execution) == (3, execution)
    assert (await call("execute", code="shop.pay(amount=1)", dryRun="true")).status == "completed"
    assert shop.paid == []


async def arguments_inside_of_code_are_arguments(shop: Shop, call: Any) -> None:
    told = await call("execute", code='{"code": "shop.price()", "dry_run": false}')
    assert (told.status, told.value) == ("completed", 3)
    assert "code held all arguments as JSON" in "\n".join(told.notes)
    execution = await shop.ended()
    for arguments in (
        {"code": f'```json\n{{"code": "", "resumeFrom": "{execution}", "toolCallId": "1"}}\n```'},
        {"arguments": {"code": "", "resume_from": execution}},
        {"input": f'{{"code": null, "resume_from": "{execution}"}}', "sessionId": "s"},
    ):
        told = await call("execute", **arguments)
        assert (told.value, told.execution) == (3, execution), arguments
    told = await call("search", query='{"queries": ["pay"], "limit": 1}')
    assert "shop.pay(" in told.text
    assert (await call("execute", code='{"code": 5}')).value == {"code": 5}
    assert (await call("execute", code='{"code": ""}')).status == "rejected"


async def of_two_spellings_ours_counts(shop: Shop, call: Any) -> None:
    told = await call("execute", Code="1", code="2")
    assert told.value == 2
    assert "ignored unknown arguments: Code;" in "\n".join(told.notes)


async def what_stands_around_a_program_is_taken_off(shop: Shop, call: Any) -> None:
    for code in (
        "<think>I ask.</think>\n```python\nshop.price()\n```",
        ">>> shop.price()",
        "1: n = 1\n2: shop.price()",
    ):
        assert (await call("execute", code=code)).value == 3, code
    told = await call("execute", code="d = {“k”: shop.price()}\nd[“k”]")
    assert told.value == 3
    assert "typographic characters" in "\n".join(told.notes)


async def surrogate_pairs_are_characters(shop: Shop, call: Any) -> None:
    assert (await call("execute", code="'\ud83d\ude00'")).value == "\U0001f600"


STRICT: list[Row] = [
    a_filter_that_fits_no_tool_is_left_out,
    a_program_runs,
    an_empty_program_never_runs,
    what_waits_is_shown_again,
    what_was_decided_continues,
    what_was_decided_continues_with_its_own_program,
    what_is_open_continues_instead_of_another_program,
    an_empty_program_of_any_form_continues,
    what_has_ended_answers_its_outcome,
    what_has_ended_is_repaired_with_code,
    a_dry_run_sends_no_writes,
    a_dry_run_of_an_execution_only_looks,
    what_was_cancelled_asks_nobody,
    a_dry_run_repairs_nothing,
    an_approved_plan_runs_by_its_id,
    an_unknown_execution_is_named,
    a_returned_file_is_loaded,
    an_uploaded_file_is_loaded,
    what_stands_around_a_program_is_taken_off,
    surrogate_pairs_are_characters,
    null_is_absent,
]
LIBERAL: list[Row] = [
    a_mistyped_argument_is_named,
    the_word_for_no_value_is_absent,
    what_clients_add_is_ignored_with_a_note,
    a_list_as_json_text_is_a_list,
    a_list_of_one_value_is_the_value,
    query_is_queries,
    of_two_spellings_ours_counts,
    other_spellings_are_ours,
    arguments_inside_of_code_are_arguments,
]


@pytest.mark.parametrize(
    ("kind", "row"),
    [(kind, row) for kind in FACES for row in (*STRICT, *(LIBERAL if kind.is_liberal else ()))],
    ids=lambda one: one.__name__,
)
async def test_the_same_call_has_the_same_answer(tmp_path: Path, kind: Any, row: Row) -> None:
    for place, conversation in (("alone", ""), ("in a conversation", "chat-1")):
        async with shop_at(tmp_path / place) as shop, AsyncExitStack() as stack:
            face = kind(shop.service, tmp_path, stack)

            async def call(name: str, _face: Any = face, _conversation: str = conversation, **arguments: Any) -> Told:
                told: Told = await _face.call(name, arguments, _conversation)
                return told

            await row(shop, call)


@pytest.mark.parametrize("kind", FACES, ids=lambda kind: kind.__name__)
async def test_the_programs_of_a_conversation_share_state(tmp_path: Path, kind: Any) -> None:
    async with shop_at(tmp_path) as shop, AsyncExitStack() as stack:
        face = kind(shop.service, tmp_path, stack)
        await face.call("execute", {"code": "store('n', 1)\n'first'"}, "chat-1")
        told = await face.call("execute", {"code": "[load('n'), last]"}, "chat-1")
        assert told.value == [1, "first"]
        assert (await face.call("execute", {"code": "last"}, "")).status in ("failed", "refused")


@pytest.mark.parametrize("kind", FACES, ids=lambda kind: kind.__name__)
async def test_the_first_search_introduces_a_source(tmp_path: Path, kind: Any) -> None:
    (tmp_path / "shop.py").write_text('def price() -> int:\n    """Return the price."""\n    return 3\n')
    (tmp_path / "codemode.yaml").write_text(
        "sources: {shop: {location: shop.py, instructions: Amounts are in cents.}}\nstate_folder: state\n"
    )
    async with CodeMode.from_config(tmp_path / "codemode.yaml") as service, AsyncExitStack() as stack:
        told = await kind(service, tmp_path, stack).call("search", {"queries": ["price"]}, "")
    assert told.text.startswith("# shop: Amounts are in cents.\n")


@pytest.mark.parametrize("mode", ["code", "hybrid", "menu", "native", "deferred", "off"])
async def test_a_mode_offers_the_same_tools_everywhere(tmp_path: Path, mode: Any) -> None:
    async with shop_at(tmp_path, pins=["shop.price"], server={"mcp": mode}) as shop:
        own = await shop.service.tools(CLERK, mode=mode).definitions("mcp")
        offer = await Toolbox(shop.service, AgentSettings(mode=mode), CLERK, {}).offer("", ())
        async with Client(McpServer(shop.service, caller_of=lambda _: CLERK).server) as client:
            listed = (await client.list_tools()).tools
    assert list(offer.names) == [tool.name for tool in listed] == [one["name"] for one in own]
    assert [one["function"]["parameters"] for one in offer.definitions] == [tool.input_schema for tool in listed]
    assert ("execute" in offer.names) is (mode in ("code", "hybrid"))
    assert ("tool_search" in offer.names) is (mode == "deferred")
    assert ("request_tool" in offer.names) is (mode in ("menu", "hybrid"))
    assert ("shop-price" in offer.names) is (mode in ("code", "hybrid", "native", "deferred"))


@pytest.mark.parametrize("mode", ["code", "hybrid", "native"])
async def test_a_native_call_has_the_same_answer_everywhere(tmp_path: Path, mode: Any) -> None:
    given = {"name": "shop-price", "arguments": {"toolCallId": "1"}}
    async with shop_at(tmp_path, pins=["shop.price"], server={"mcp": mode}) as shop:
        own = await shop.service.tools(CLERK, mode=mode).call(given["name"], given["arguments"])  # type: ignore[arg-type]
        toolbox = Toolbox(shop.service, AgentSettings(mode=mode), CLERK, {})
        agents = await toolbox.call(given["name"], given["arguments"], await toolbox.offer("", ()))  # type: ignore[arg-type]
        async with Client(McpServer(shop.service, caller_of=lambda _: CLERK).server) as client:
            answer = await client.call_tool(**given)  # type: ignore[arg-type]
    for text in (own.text, agents.text, answer.content[0].text):  # type: ignore[union-attr]
        lines = text.splitlines()
        assert (lines[0], lines[-1]) == ("3", "note: ignored unknown arguments: toolCallId")


async def test_opening_a_file_names_what_reads_one(tmp_path: Path) -> None:
    async with shop_at(tmp_path) as shop:
        answer = await shop.service.tools(CLERK).call("execute", {"code": "open('/mnt/data/members.csv')"})
    assert "a file that was sent is a variable of the inputs, or load(reference) reads it" in answer.text
