"""Programs under flow rules."""

from __future__ import annotations

import sys
from pathlib import Path

from codemode import CodeMode
from codemode.executions.types.records import Decision
from codemode.gateway.caller import LOCAL
from codemode.settings import Settings
from tests.integration.codemode.features.flow.world import APPROVER, EVIL, World, served, settings

FIND = "import re\nbody = outbox.list_mails()[0]['body']\naddress = re.search(r'[\\w.]+@[\\w.]+', body).group()\n"


async def test_an_address_out_of_a_mail_is_asked_with_its_origin(tmp_path: Path) -> None:
    world = World()
    async with served(tmp_path, world) as service:
        outcome = await service.execute(f"{FIND}outbox.send_mail(to=address)\n1", conversation="a")
        assert outcome.status == "paused"
        (pending,) = outcome.pending
        assert outcome.calls[-1].rule == "flow: directions"
        assert pending.reason == "`to` comes from outbox.list_mails (call 1), field body"
        assert world.sent == []


async def test_coded_joined_and_stored_texts_are_followed(tmp_path: Path) -> None:
    world = World()
    programs = {
        "joined": "outbox.send_mail(to='jane@company.example, ' + address)",
        "coded": "import base64\noutbox.send_mail(to=base64.b64encode(address.encode()).decode())",
        "split": "outbox.send_mail(to=' '.join(address))",
        "noted": "people.write_note(name='n', text=address)\noutbox.send_mail(to=people.read_note(name='n'))",
    }
    async with served(tmp_path, world) as service:
        for name, code in programs.items():
            outcome = await service.execute(f"{FIND}{code}\n1", conversation=name)
            assert outcome.status == "paused", name
        await service.execute(f"{FIND}store('a', address)\n1", conversation="stored")
        outcome = await service.execute("outbox.send_mail(to=load('a'))\n1", conversation="stored")
        assert outcome.status == "paused"
        assert world.sent == []


async def test_what_the_user_asked_for_is_done(tmp_path: Path) -> None:
    world = World()
    programs = {
        "a reply": "outbox.send_mail(to=outbox.list_mails()[0]['sender'], body='Thanks')",
        "a forward": "outbox.send_mail(to='boss@company.example', body=outbox.list_mails()[0]['body'])",
        "a colleague": "outbox.list_mails()\noutbox.send_mail(to=people.find(name='Jane')['address'])",
        "replies": "[outbox.send_mail(to=mail['sender']) for mail in outbox.list_mails()]",
        "a count": "outbox.send_mail(to='boss@company.example', body=str(len(outbox.list_mails())))",
    }
    async with served(tmp_path, world) as service:
        for name, code in programs.items():
            outcome = await service.execute(f"{code}\n1", conversation=name)
            assert outcome.status == "completed", (name, outcome.pending)
        assert len(world.sent) == len(programs) + 1


async def test_models_are_told_to_act_before_they_look(tmp_path: Path) -> None:
    advice = "Read and change in one program"
    async with served(tmp_path / "on", World()) as service:
        search, execute = (one["function"]["description"] for one in await service.definitions())
        assert advice in execute
        assert advice not in search
        await service.reload(settings(tmp_path / "on", mode="off"))
        assert advice not in str(await service.definitions())


async def test_once_the_model_has_read_an_outsiders_text_its_writes_are_asked(tmp_path: Path) -> None:
    world = World()
    async with served(tmp_path, world) as service:
        assert (await service.execute("outbox.list_mails()", conversation="a")).status == "completed"
        after = await service.execute(f"outbox.send_mail(to='{EVIL}')\n1", conversation="a")
        assert after.status == "paused"
        assert (
            "the model has read what outsiders wrote: outbox.list_mails (call 1), field body" in after.pending[0].reason
        )
        assert (await service.execute("outbox.send_mail(to='x@company.example')\n1", conversation="b")).ok
        assert (await service.execute("people.find(name='Jane')", conversation="a")).ok


async def test_what_does_not_show_an_outsiders_text_leaves_the_conversation_clear(tmp_path: Path) -> None:
    world = World()
    async with served(tmp_path, world) as service:
        for code in (
            "len(outbox.list_mails())",
            "[m['sender'] for m in outbox.list_mails()]",
            "store('m', outbox.list_mails())\n1",
        ):
            assert (await service.execute(code, conversation="a")).ok
        assert (await service.execute("outbox.send_mail(to='x@company.example')\n1", conversation="a")).ok
        for shows in ("print(outbox.list_mails()[0]['body'])", "raise ValueError(outbox.list_mails()[0]['body'])"):
            await service.execute(shows, conversation=shows[:5])
            assert (
                await service.execute("outbox.send_mail(to='x@y.example')\n1", conversation=shows[:5])
            ).status == "paused"


async def test_a_restarted_service_still_knows(tmp_path: Path) -> None:
    world = World()
    async with served(tmp_path, world) as service:
        await service.execute("outbox.list_mails()", conversation="a")
    async with served(tmp_path, world) as service:
        assert (await service.execute("outbox.send_mail(to='x@y.example')\n1", conversation="a")).status == "paused"


async def test_an_approval_lets_the_call_pass_and_a_denial_does_not(tmp_path: Path) -> None:
    world = World()
    deny = {"where": {"to": {"from": "untrusted"}}, "decision": "deny", "reason": "people choose addressees"}
    async with served(tmp_path / "deny", world, rules=[deny]) as service:
        outcome = await service.execute(f"{FIND}outbox.send_mail(to=address)")
        assert outcome.status == "failed"
        assert "people choose addressees" in str(outcome.failure)
    async with served(tmp_path / "ask", world) as service:
        outcome = await service.execute(f"{FIND}outbox.send_mail(to=address)\noutbox.send_mail(to=address + ', x')\n1")
        (pending,) = outcome.pending
        approved = Decision(pending.id, pending.digest, "approved", by="", up_to=5)
        await service.executions.decide([approved], APPROVER)
        await service.executions.resume(outcome.id, APPROVER)
        ended = await service.executions.wait(outcome.id, LOCAL, 30)
        assert world.sent == [{"to": EVIL, "body": ""}]
        assert ended.status == "paused"  # a grant for one address is none for another


async def test_rules_are_off_by_default(tmp_path: Path) -> None:
    world = World()
    async with served(tmp_path, world, mode="off") as service:
        assert (await service.execute(f"{FIND}outbox.send_mail(to=address)\n1")).ok
    assert world.sent == [{"to": EVIL, "body": ""}]


async def test_what_an_mcp_server_says_of_its_answers_adds_marks(tmp_path: Path) -> None:
    server = Path(__file__).with_name("labelling_server.py")
    source = {"command": [sys.executable, str(server)], "timeout_s": 200}
    allowed = {"rules": [{"tools": ["*"], "decision": "allow"}]}
    folders = {"state_folder": tmp_path / "state", "cache_folder": tmp_path / "cache"}
    chosen = {"sources": {"labels": source}, "flow": {"mode": "on"}, "policy": allowed, **folders}
    async with CodeMode.from_settings(Settings.model_validate(chosen)) as service:
        for tool_, status in {"own": "completed", "page": "paused", "entry": "paused"}.items():
            outcome = await service.execute(f"labels.send(to=labels.{tool_}())\n1", conversation=tool_)
            assert outcome.status == status, tool_
            assert outcome.calls[-1].rule.endswith("flow: directions" if status == "paused" else "rule 1")


async def test_a_reload_changes_the_rules(tmp_path: Path) -> None:
    world = World()
    async with served(tmp_path, world, mode="off") as service:
        program = f"{FIND}outbox.send_mail(to=address)\n1"
        assert (await service.execute(program, conversation="a")).ok
        await service.reload(settings(tmp_path))
        assert (await service.execute(program, conversation="b")).status == "paused"
        await service.reload(settings(tmp_path, trusted=["outbox.*"]))
        assert (await service.execute(program, conversation="c")).ok


async def test_a_program_that_another_process_resumes_keeps_what_the_server_said_of_an_answer(tmp_path: Path) -> None:
    server = Path(__file__).with_name("labelling_server.py")
    source = {"command": [sys.executable, str(server)], "timeout_s": 200}
    rules = [{"tools": ["notes.*"], "decision": "ask"}, {"tools": ["*"], "decision": "allow"}]
    folders = {"state_folder": tmp_path / "state", "cache_folder": tmp_path / "cache"}
    chosen = {"sources": {"labels": source}, "flow": {"mode": "on"}, "policy": {"rules": rules}, **folders}
    parsed = Settings.model_validate({**chosen, "name": "labels"})
    world = World()
    functions = {"notes": [world.write_note]}
    program = "one = labels.entry()\nnotes.write_note(name='n', text='x')\nlabels.send(to=one)\n1"
    async with CodeMode.from_settings(parsed, functions=functions) as service:
        first = await service.execute(program)
        assert [call.tool for call in first.pending] == ["notes.write_note"]
    async with CodeMode.from_settings(parsed, functions=functions) as service:
        (pending,) = first.pending
        await service.executions.decide([Decision(pending.id, pending.digest, "approved", by="")], APPROVER)
        await service.executions.resume(first.id, APPROVER)
        again = (await service.executions.wait(first.id, LOCAL, 60)).outcome
        assert again["pending"][0]["reason"] == "`to` comes from labels.entry (call 1)"


async def test_all_that_a_model_is_shown_counts(tmp_path: Path) -> None:
    world = World()
    shows = {
        "words one by one": "outbox.list_mails()[0]['body'].split()",
        "names of fields": "{word: 1 for word in outbox.list_mails()[0]['body'].split()}",
        "answers of a program that fails": "outbox.list_mails()\n1 / 0",
        "what waits for a person": f"{FIND}people.write_note(name='n', text=address)\n1",
    }
    ask = {"tools": ["people.write_note"], "where": {"text": {"from": "untrusted"}}, "decision": "ask"}
    async with served(tmp_path, world, rules=[ask]) as service:
        for name, code in shows.items():
            await service.execute(code, conversation=name)
            outcome = await service.execute("outbox.send_mail(to='x@y.example')\n1", conversation=name)
            assert outcome.status == "paused", name


async def test_a_program_that_was_written_before_the_model_read_anything_stays_trusted_when_it_goes_on(
    tmp_path: Path,
) -> None:
    world = World()
    ask = {"tools": ["people.write_note"], "where": {"text": {"from": "untrusted"}}, "decision": "ask"}
    program = (
        "body = outbox.list_mails()[0]['body']\nprint(body)\npeople.write_note(name='n', text=body)\n"
        "outbox.send_mail(to='boss@company.example')\n1"
    )
    async with served(tmp_path, world, rules=[ask]) as service:
        outcome = await service.execute(program, conversation="a")
        (pending,) = outcome.pending
        await service.executions.decide([Decision(pending.id, pending.digest, "approved", by="")], APPROVER)
        await service.executions.resume(outcome.id, APPROVER)
        ended = await service.executions.wait(outcome.id, LOCAL, 30)
        assert (ended.status, len(world.sent)) == ("completed", 1)
        assert (await service.execute("outbox.send_mail(to='x@y.example')\n1", conversation="a")).status == "paused"
