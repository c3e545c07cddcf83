"""Saved programs within programs: policy, ledger, approvals, limits, and a kill in the middle."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from codemode.executions.types.records import Decision
from codemode.features.cards.desk import Cards
from codemode.features.saved.saved import SavedPrograms
from codemode.gateway.caller import Caller
from codemode.serving.output.card_text import card_text
from tests.integration.codemode.executions.upstream import APPROVER, OWNER, Place, place
from tests.integration.codemode.features.saved.files import save, saved

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from codemode.service import CodeMode


@pytest.fixture
async def here(tmp_path: Path) -> AsyncIterator[Place]:
    async with place(tmp_path) as found:
        yield found


def service(here: Place, **sections: Any) -> CodeMode:
    return here.service(**saved(here), **sections)


async def approve(service: CodeMode, pending: Any) -> None:
    await service.executions.decide([Decision(p.id, p.digest, "approved", by="") for p in pending], APPROVER)


TWICE = "a = up.x.get(n=number)\nb = up.x.post(n=a['count'] + step)\n[a['n'], b['n']]"
PARAMETERS = "{number: {type: integer}, step: {type: integer, default: 10}}"


@pytest.mark.parametrize("call", ["saved.twice(number=4)", "await saved.twice(number=4)"])
async def test_a_saved_program_is_called_like_a_tool(here: Place, call: str) -> None:
    save(here, "twice", TWICE, tools="[up.x.get, up.x.post]", parameters=PARAMETERS)
    async with service(here) as cm:
        outcome = await cm.execute(call, caller=OWNER)
    assert outcome.ok, outcome
    assert outcome.value == ["4", "11"]
    path = "1.1" if call.startswith("await") else "1"
    assert [(one.path, one.tool, one.state) for one in outcome.calls] == [
        (path, "saved.twice", "committed"),
        (f"{path}:1", "up.x.get", "read"),
        (f"{path}:2", "up.x.post", "committed"),
    ]


async def test_it_is_found_and_its_arguments_are_checked(here: Place) -> None:
    save(here, "twice", TWICE, tools="[up.x.get, up.x.post]", parameters=PARAMETERS)
    async with service(here) as cm:
        assert "saved.twice(*, number: int, step: int = 10)" in (await cm.search("the program twice")).text
        refused = await cm.execute("saved.twice(nummer=4)", caller=OWNER)
        failed = await cm.execute("saved.twice(**{'number': 'x'})", caller=OWNER)
    assert refused.failure is not None
    assert "did you mean 'number'" in refused.failure.refusals[0].message
    assert failed.failure is not None
    assert "number: expected int" in failed.failure.message
    assert here.upstream.seen == []


async def test_a_file_is_read_again_when_it_changes(here: Place) -> None:
    async with service(here) as cm:
        save(here, "one", "1", effect="read")
        assert (await cm.execute("saved.one()", caller=OWNER)).value == 1
        save(here, "one", "1 + 1", effect="read", version=2)
        assert (await cm.execute("saved.one()", caller=OWNER)).value == 2


async def test_a_call_of_the_program_pauses_the_execution_and_it_goes_on_there(here: Place) -> None:
    save(here, "cleanup", "up.x.post(n=1)\nup.x.drop(n=2)\nup.x.get(n=3)['n']", effect="destructive")
    async with service(here) as cm:
        outcome = await cm.execute("x = saved.cleanup()\nup.x.put(n=9)\nx", caller=OWNER)
        assert outcome.status == "paused"
        assert [(call.path, call.tool) for call in outcome.pending] == [("1:2", "up.x.drop")]
        await approve(cm, outcome.pending)
    save(here, "cleanup", "up.x.get(n=7)", effect="read", version=2)  # the execution goes on with what it began
    async with service(here) as cm:
        await cm.executions.resume(outcome.id, OWNER)
        stored = await cm.executions.wait(outcome.id, OWNER, 30)
    assert (stored.status, stored.outcome["value"]) == ("completed", "3")
    assert here.upstream.seen == ["POST /post?n=1", "DELETE /drop?n=2", "GET /get?n=3", "PUT /put?n=9"]
    assert [(one["path"], one["state"]) for one in stored.outcome["calls"]] == [
        ("1", "committed"),  # the version that began writes
        ("1:1", "committed"),
        ("1:2", "committed"),
        ("1:3", "read"),
        ("2", "committed"),
    ]


async def test_a_program_that_reads_is_read_after_a_pause_too(here: Place) -> None:
    save(here, "look", "up.x.get(n=1)['n']", effect="read")
    async with service(here) as cm:
        outcome = await cm.execute("x = saved.look()\nup.x.drop(n=2)\nx", caller=OWNER)
        await approve(cm, outcome.pending)
        await cm.executions.resume(outcome.id, OWNER)
        stored = await cm.executions.wait(outcome.id, OWNER, 30)
    states = [(one["path"], one["state"]) for one in stored.outcome["calls"]]
    assert states == [("1", "read"), ("1:1", "read"), ("2", "committed")]


async def test_a_server_that_dies_within_a_program_leaves_it_to_the_next(here: Place) -> None:
    code = "import datetime\nfirst = up.x.post(n=1)\nday = datetime.datetime.now().isoformat()\n"
    code += "up.x.put(n=2)\nup.x.get(n=3)\nday == datetime.datetime.now().isoformat()"
    save(here, "slow", code)
    hold = here.upstream.hold("/get")
    async with service(here) as cm:
        running = asyncio.create_task(cm.execute("saved.slow()", caller=OWNER))
        await here.upstream.wait_for(3)
        (stored,) = await cm.executions.list(OWNER)
        await cm.executions.aclose()
        await asyncio.gather(running, return_exceptions=True)
    hold.set()
    async with service(here) as cm:
        assert await cm.executions.recover() == (stored.request.id,)
        ended = await cm.executions.wait(stored.request.id, OWNER, 30)
    assert (ended.status, ended.outcome["value"]) == ("completed", False), ended.outcome
    assert here.upstream.seen == ["POST /post?n=1", "PUT /put?n=2", "GET /get?n=3", "GET /get?n=3"]


async def test_parallel_programs_and_lists_within_them(here: Place) -> None:
    save(here, "rows", "[up.x.list.items(limit=4), n]", effect="read", parameters="{n: {type: integer}}")
    code = "import asyncio\nawait asyncio.gather(*[saved.rows(n=n) for n in range(6)])"
    async with service(here) as cm:
        outcome = await cm.execute(code, caller=OWNER)
    assert outcome.value == [[[0, 1, 2, 3], n] for n in range(6)]
    assert {one.path.partition(":")[2] for one in outcome.calls} == {"", "1/1", "1/2"}


async def test_parallel_programs_ask_together_and_go_on_each_where_it_was(here: Place) -> None:
    save(here, "drop", "up.x.post(n=n)\nup.x.drop(n=n)['n']", effect="destructive", parameters="{n: {type: integer}}")
    save(here, "look", "[up.x.get(n=k)['n'] for k in range(8)]", effect="read")
    code = "import asyncio\nawait asyncio.gather(saved.drop(n=1), saved.look(), saved.drop(n=2), up.x.put(n=3))"
    async with service(here) as cm:
        outcome = await cm.execute(code, caller=OWNER)
        while outcome.status == "paused":
            await approve(cm, outcome.pending)
            await cm.executions.resume(outcome.id, OWNER)
            stored = await cm.executions.wait(outcome.id, OWNER, 30)
            if stored.status != "paused":
                break
            outcome = replace(outcome, pending=await cm.executions.approvals(OWNER))
    assert (stored.status, stored.outcome["value"][0::2]) == ("completed", ["1", "2"]), stored.outcome
    writes = sorted(line for line in here.upstream.seen if not line.startswith("GET"))
    assert writes == ["DELETE /drop?n=1", "DELETE /drop?n=2", "POST /post?n=1", "POST /post?n=2", "PUT /put?n=3"]


async def test_a_program_that_runs_too_long_ends_with_the_execution(here: Place) -> None:
    save(here, "forever", "while True:\n    pass", effect="read")
    async with service(here, limits={"wall_s": 2, "cpu_s": 30}) as cm:
        outcome = await cm.execute("saved.forever()", caller=OWNER)
    assert outcome.status == "timed_out" or "saved.forever timed_out" in str(outcome.failure)


async def test_a_cancelled_call_ends_its_program(here: Place) -> None:
    save(here, "wait", "up.x.get(n=1)\nup.x.post(n=2)")
    here.upstream.hold("/get")
    code = (
        "import asyncio\ntry:\n    await asyncio.wait_for(saved.wait(), 0.5)\nexcept TimeoutError:\n    r = 'late'\nr"
    )
    async with service(here) as cm:
        outcome = await cm.execute(code, caller=OWNER)
    assert outcome.value == "late"
    assert here.upstream.seen == ["GET /get?n=1"]


async def test_an_unrecorded_program_that_asks_is_stopped(here: Place) -> None:
    save(here, "drop", "up.x.drop(n=1)", effect="destructive")
    async with service(here, journal={"enabled": False}) as cm:
        outcome = await cm.execute("saved.drop()", caller=OWNER)
    assert outcome.failure is not None
    assert outcome.failure.type == "ApprovalRequired"
    assert [one.state for one in outcome.calls] == ["pending", "pending"]
    assert here.upstream.seen == []


async def test_a_program_that_calls_itself_is_refused(here: Place) -> None:
    save(here, "a", "saved.b()")
    save(here, "b", "saved.a()")
    async with service(here) as cm:
        outcome = await cm.execute("saved.a()", caller=OWNER)
    assert outcome.failure is not None
    assert "saved.a calls itself (saved.a → saved.b → saved.a)" in outcome.failure.message


async def test_a_broken_program_fails_before_anything_is_sent(here: Place) -> None:
    save(here, "gone", "up.x.post(n=1)\nup.x.lost()", tools="[up.x.post, up.x.lost]")
    save(here, "misfit", "up.x.post(n=1)\nup.x.get(nn=1)", tools="[up.x.post, up.x.get]")
    async with service(here) as cm:
        assert "Broken: it needs up.x.lost" in (await cm.describe("saved.gone"))
        for name, reason in (("gone", "it needs up.x.lost"), ("misfit", "has no parameter 'nn'")):
            outcome = await cm.execute(f"saved.{name}()", caller=OWNER)
            assert outcome.failure is not None
            assert f"saved.{name} is broken" in outcome.failure.message
            assert reason in outcome.failure.message
        problems = {one.name: one.problem for one in await cm.part(SavedPrograms).check()}
    assert "up.x.lost" in problems["gone"]
    assert "line 7: up.x.get() has no parameter 'nn'" in problems["misfit"]
    assert here.upstream.seen == []


async def test_an_error_within_a_program_names_its_line(here: Place) -> None:
    save(here, "wrong", "x = 1\nx / 0", effect="read")
    async with service(here) as cm:
        outcome = await cm.execute("try:\n    saved.wrong()\nexcept ToolError as e:\n    r = str(e)\nr", caller=OWNER)
    assert "saved.wrong failed at line 6: ZeroDivisionError" in outcome.value


async def test_the_policy_judges_the_calls_of_the_program(here: Place) -> None:
    save(here, "post", "up.x.post(n=1)")
    save(here, "hidden", "1", roles="[boss]", effect="read")
    policy = {"rules": [{"tools": "up.x.post", "roles": "guest", "decision": "deny"}], "roles": ["guest", "boss"]}
    async with service(here, policy=policy) as cm:
        guest, boss = Caller("g", "guest"), Caller("b", "boss")
        denied = await cm.execute("saved.post()", caller=guest)
        names = [[tool.id for tool in await cm.part(SavedPrograms).list(caller)] for caller in (guest, boss)]
        reader = await cm.execute("saved.post()", caller=Caller("r", read_only=True))
    assert denied.status == "failed"
    assert names == [["saved.post"], ["saved.hidden", "saved.post"]]
    assert [one.state for one in reader.calls] == ["denied"]
    assert here.upstream.seen == []


async def test_the_calls_of_programs_count_to_the_limit_of_the_execution(here: Place) -> None:
    save(here, "many", "for n in range(4):\n    up.x.get(n=n)", effect="read")
    async with service(here, limits={"calls": 6}) as cm:
        outcome = await cm.execute("saved.many()\nsaved.many()", caller=OWNER)
    assert outcome.failure is not None
    assert "the execution made 6 calls, those of saved programs included" in outcome.failure.message
    assert len(here.upstream.seen) == 4


async def test_a_dry_run_lists_the_writes_of_the_program(here: Place) -> None:
    save(here, "twice", TWICE.replace("a['count']", "5"), tools="[up.x.get, up.x.post]", parameters=PARAMETERS)
    async with service(here) as cm:
        outcome = await cm.execute("saved.twice(number=4)", caller=OWNER, dry_run=True)
    assert [(one.path, one.tool, one.arguments) for one in outcome.planned] == [("1:2", "up.x.post", {"n": 15})]
    assert here.upstream.seen == ["GET /get?n=4"]


async def test_a_repair_reuses_the_calls_of_a_failed_program(here: Place) -> None:
    save(here, "twice", "up.x.post(n=1)\nraise ValueError('no')")
    async with service(here) as cm:
        failed = await cm.execute("saved.twice()", caller=OWNER)
        save(here, "twice", "up.x.post(n=1)['n']", version=2)
        repaired = await cm.execute("saved.twice()", caller=OWNER, resume_from=failed.id)
    assert repaired.value == "1"
    assert here.upstream.seen == ["POST /post?n=1"]


# --- the header is law -----------------------------------------------------------------------------------------------

#: Ways to call up.x.post that no reader of the source sees.
UNSEEN = {
    "getattr": "getattr(up.x, 'po' + 'st')(n=1)",
    "getattr of tools": "getattr(getattr(tools, 'u' + 'p'), 'x').post(n=1)",
    "alias of the namespace": "b = up\nb.x.post(n=1)",
    "alias of the tool": "f = up.x.post\nf(n=1)",
    "list": "[t for t in [up.x]][0].post(n=1)",
    "lambda": "(lambda t: t.post(n=1))(up.x)",
    "await": "await up.x.post(n=1)",
    "gather": "import asyncio\nx = up.x\nawait asyncio.gather(x.post(n=1), x.post(n=2))",
    "threads": (
        "from concurrent.futures import ThreadPoolExecutor\nx = up.x\n"
        "with ThreadPoolExecutor() as pool:\n    r = list(pool.map(lambda n: x.post(n=n), [1]))\nr"
    ),
    "exec of names": "g = {'up': up}\ng['up'].x.post(n=1)",
    "swallowed": "try:\n    getattr(up.x, 'po' + 'st')(n=1)\nexcept Exception:\n    pass\n7",
    "pages": "getattr(getattr(up.x, 'li' + 'st'), 'items')(limit=1)",
}


@pytest.mark.parametrize("way", UNSEEN)
@pytest.mark.parametrize("is_recorded", [True, False])
async def test_a_program_that_says_no_tools_makes_no_call_whatever_way_it_takes(
    here: Place,
    way: str,
    is_recorded: bool,
) -> None:
    save(here, "report", UNSEEN[way], effect="read", tools="[]")
    async with service(here, **({} if is_recorded else {"journal": {"enabled": False}})) as cm:
        outcome = await cm.execute("saved.report()", caller=OWNER)
        dry = await cm.execute("saved.report()", caller=OWNER, dry_run=True)
    assert here.upstream.seen == []
    assert (dry.planned, outcome.pending) == ((), ())
    inner = [call for call in outcome.calls if ":" in call.path]
    assert {call.state for call in inner} <= {"denied"}
    if outcome.failure is None:
        assert (way, outcome.value) == ("swallowed", 7)
    else:
        assert "the header of saved.report does not list it among its tools" in outcome.failure.message


@pytest.mark.parametrize("code", ["up.x.post(n=1)", "getattr(up.x, 'po' + 'st')(n=1)"])
async def test_a_program_that_says_read_does_not_write_with_the_tools_that_it_lists(here: Place, code: str) -> None:
    save(here, "report", code, effect="read", tools="[up.x.post]")
    async with service(here) as cm:
        outcome = await cm.execute("saved.report()", caller=OWNER)
        problem = {one.name: one.problem for one in await cm.part(SavedPrograms).check()}["report"]
    assert here.upstream.seen == []
    assert outcome.failure is not None
    assert "the header of saved.report says read, and the tool is write" in outcome.failure.message
    assert ("says read" in problem) == code.startswith("up")


async def test_a_program_calls_another_only_if_its_header_lists_it_and_neither_lends_its_tools(here: Place) -> None:
    save(here, "writer", "up.x.post(n=1)")
    save(here, "outer", "s = saved\ns.writer()", tools="[up.x.post]")
    save(here, "reader", "s = saved\ns.writer()", effect="read", tools="[saved.writer]")
    save(here, "lender", "saved.writer()\ngetattr(up.x, 'po' + 'st')(n=2)", tools="[saved.writer]")
    async with service(here) as cm:
        for name, reason in (("outer", "does not list it"), ("reader", "says read, and the tool is write")):
            outcome = await cm.execute(f"saved.{name}()", caller=OWNER)
            assert outcome.failure is not None
            assert reason in outcome.failure.message
        assert here.upstream.seen == []
        lent = await cm.execute("saved.lender()", caller=OWNER)
    assert here.upstream.seen == ["POST /post?n=1"]
    assert [(one.path, one.state) for one in lent.calls] == [
        ("1", "failed"),
        ("1:1", "committed"),
        ("1:1:1", "committed"),
        ("1:2", "denied"),
    ]


async def test_an_execution_goes_on_under_the_header_with_which_it_began(here: Place) -> None:
    code = (
        "up.x.drop(n=1)\ntry:\n    getattr(up.x, 'po' + 'st')(n=2)\nexcept Exception as error:\n    r = str(error)\nr"
    )
    save(here, "job", code, effect="destructive", tools="[up.x.drop]")
    async with service(here) as cm:
        outcome = await cm.execute("saved.job()", caller=OWNER)
        await approve(cm, outcome.pending)
    save(here, "job", code, effect="destructive", tools="[up.x.drop, up.x.post]", version=2)
    async with service(here) as cm:
        await cm.executions.resume(outcome.id, OWNER)
        stored = await cm.executions.wait(outcome.id, OWNER, 30)
    assert "the header of saved.job does not list it among its tools" in stored.outcome["value"]
    assert here.upstream.seen == ["DELETE /drop?n=1"]


async def test_the_question_says_which_program_asks_and_who_saved_it(here: Place) -> None:
    save(here, "job", "up.x.drop(n=1)", effect="destructive", saved_by="ann", version=3)
    async with service(here) as cm:
        outcome = await cm.execute("saved.job()", caller=OWNER)
        (card,) = [await cm.part(Cards).show(pending.id, APPROVER) for pending in outcome.pending]
    assert card.call.within == "saved.job version 3, saved by ann"
    assert "made by saved.job version 3, saved by ann" in card_text(card)
