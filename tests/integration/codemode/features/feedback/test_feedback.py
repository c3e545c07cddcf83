"""What was called after which query raises tools in later searches of the same role, within bounds."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from codemode import CodeMode
from codemode.features.all import FEATURES
from codemode.features.feedback.feedback import Feedback
from codemode.gateway.caller import Caller
from codemode.search.request import SearchRequest
from codemode.settings import Settings

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

ANN, BEN, EVE = Caller("key:ann"), Caller("key:ben"), Caller("key:eve", "guest")
POLICY = {"roles": ["guest"], "rules": [{"tools": "social.delete_status", "roles": "guest", "decision": "deny"}]}


def post_status(text: str) -> str:
    """Publish a status."""
    return text


def delete_status(status_id: int) -> str:
    """Remove a status."""
    raise LookupError(status_id)


def list_followers() -> list[str]:
    """List who follows an account."""
    return ["ben"]


def find_iban(owner: str) -> dict[str, str]:
    """Look up an IBAN."""
    return {"error": f"no IBAN of {owner}"}


def transfer(to: str) -> str:
    """Send money to a person."""
    return to


@asynccontextmanager
async def served(folder: Path, **more: Any) -> AsyncIterator[CodeMode]:
    settings = Settings.model_validate(
        {"name": "social", "state_folder": str(folder / "state"), "policy": POLICY, **more}
    )
    functions = {"social": [post_status, delete_status, list_followers], "bank": [transfer, find_iban]}
    async with CodeMode.from_settings(settings, functions=functions) as service:
        yield service


def stored(folder: Path) -> dict[str, Path]:
    """Return the files of the record, by name."""
    return {file.name: file for file in folder.rglob("feedback/*.json")}


async def hits(service: CodeMode, query: str, caller: Caller = ANN, conversation: str = "a") -> list[str]:
    answer = await service.find(SearchRequest(queries=[query]), caller, None, conversation)
    return [hit.tool.id for hit in answer.hits]


async def call(service: CodeMode, code: str, caller: Caller = ANN, conversation: str = "a") -> None:
    assert (await service.execute(code, caller=caller, conversation=conversation)).ok


async def teach(service: CodeMode, query: str, code: str, caller: Caller = ANN, conversation: str = "a") -> None:
    """Search in other words, then call what another search finds."""
    await hits(service, query, caller, conversation)
    await hits(service, "publish a status", caller, conversation)
    await call(service, code, caller, conversation)


async def test_a_hit_that_was_called_comes_first_for_the_same_words(tmp_path: Path) -> None:
    async with served(tmp_path) as service:
        before = await hits(service, "status")
        assert before[0] != before[1] == "social.post_status"
        await call(service, "social.post_status(text='hi')")
        assert (await hits(service, "status"))[0] == "social.post_status"
        assert (await hits(service, "a status please", BEN))[0] == "social.post_status"


async def test_a_query_in_vain_finds_what_the_next_one_led_to(tmp_path: Path) -> None:
    async with served(tmp_path) as service:
        assert await hits(service, "toot") == []
        await hits(service, "publish a status")
        await call(service, "social.post_status(text='hi')")
        assert await hits(service, "toot") == ["social.post_status"]
        assert await hits(service, "a toot for everybody", BEN) == ["social.post_status"]


async def test_a_query_in_vain_of_another_conversation_teaches_nothing(tmp_path: Path) -> None:
    async with served(tmp_path) as service:
        await hits(service, "toot", conversation="b")
        await hits(service, "publish a status")
        await call(service, "social.post_status(text='hi')")
        assert await hits(service, "toot") == []


async def test_a_program_may_search_in_vain_itself(tmp_path: Path) -> None:
    async with served(tmp_path) as service:
        await call(service, "search('toot')\nsearch('publish a status')\nsocial.post_status(text='hi')")
        assert await hits(service, "toot") == ["social.post_status"]


async def test_a_call_that_failed_teaches_nothing(tmp_path: Path) -> None:
    async with served(tmp_path) as service:
        await hits(service, "toot")
        await hits(service, "remove a status")
        await service.execute("social.delete_status(status_id=1)", caller=ANN, conversation="a")
        assert await hits(service, "toot") == []


async def test_a_call_that_answered_with_an_error_teaches_nothing(tmp_path: Path) -> None:
    async with served(tmp_path) as service:
        await hits(service, "toot")
        assert "bank.find_iban" in await hits(service, "look up an IBAN")
        await call(service, "bank.find_iban(owner='ben')")
        assert await hits(service, "toot") == []


async def test_roles_neither_learn_from_each_other_nor_find_more(tmp_path: Path) -> None:
    async with served(tmp_path) as service:
        await teach(service, "toot", "social.post_status(text='hi')", EVE)
        assert await hits(service, "toot", EVE) == ["social.post_status"]
        assert await hits(service, "toot") == []
        assert list(stored(tmp_path)) == ["guest.json"]
        path = stored(tmp_path)["guest.json"]
        path.write_text(path.read_text().replace("post_status", "delete_status"))
        assert await hits(service, "toot", EVE) == []  # the role may not use it
        assert "delete_status" not in str(await service.discovery.explain(SearchRequest(queries=["toot"]), EVE))


async def test_what_was_learned_survives_a_restart_and_reaches_other_servers(tmp_path: Path) -> None:
    async with served(tmp_path) as one, served(tmp_path) as other:
        assert await hits(other, "toot", BEN) == []
        await teach(one, "toot", "social.post_status(text='hi')")
        assert await hits(other, "toot", BEN) == ["social.post_status"]
    async with served(tmp_path) as later:
        assert await hits(later, "toot", BEN) == ["social.post_status"]


async def test_the_record_has_queries_and_tools_but_no_arguments_results_or_names(tmp_path: Path) -> None:
    async with served(tmp_path) as service:
        await teach(service, "toot", "social.post_status(text='private')\n'secret result'")
    (file,) = stored(tmp_path).values()
    assert file.stat().st_mode & 0o777 == 0o600
    text = file.read_text()
    assert "toot" in text
    assert "social.post_status" in text
    assert not any(word in text for word in ("private", "secret", "ann"))


async def test_a_message_of_a_person_is_not_stored(tmp_path: Path) -> None:
    async with served(tmp_path) as service:
        await service.find(SearchRequest(queries=["status of my divorce"]), ANN, lambda _: True, "a")
        await call(service, "social.post_status(text='hi')")
        assert service.part(Feedback).used() == []


async def test_one_caller_that_calls_often_cannot_displace_what_others_call(tmp_path: Path) -> None:
    async with served(tmp_path) as service:
        for person in range(3):
            caller = Caller(f"key:{person}")
            await hits(service, "list followers", caller)
            await call(service, "social.list_followers()", caller)
        injected = Caller("key:injected")
        for number in range(20):
            await hits(service, "list followers", injected, f"{number}")
            await hits(service, "send money", injected, f"{number}")
            await call(service, "bank.transfer(to='thief')", injected, f"{number}")
        assert (await hits(service, "list followers", BEN))[0] == "social.list_followers"
        assert (await hits(service, "social.list_followers", BEN))[0] == "social.list_followers"
        (why,) = await service.discovery.explain(SearchRequest(queries=["list followers"]), BEN)
        shares = {hit.id: hit.shares.get("learned", 0.0) for hit in why.hits}
        assert 0 < shares["bank.transfer"] < 0.4 < shares["social.list_followers"]


async def test_an_exact_name_stays_first(tmp_path: Path) -> None:
    async with served(tmp_path) as service:
        for person in range(8):
            caller = Caller(f"key:{person}")
            await teach(service, "social.list_followers", "social.post_status(text='hi')", caller)
        assert (await hits(service, "social.list_followers", BEN))[0] == "social.list_followers"


async def test_an_explanation_shows_what_was_learned(tmp_path: Path) -> None:
    async with served(tmp_path) as service:
        await teach(service, "toot", "social.post_status(text='hi')")
        (why,) = await service.discovery.explain(SearchRequest(queries=["toot"]), ANN, "social.post_status")
        (hit,) = why.hits
        assert hit.shares["learned"] > 0.1
        assert sum(hit.shares.values()) == pytest.approx(hit.score, abs=0.05)
        assert "learned +" in why.wanted


async def test_turned_off_it_forgets(tmp_path: Path) -> None:
    async with served(tmp_path) as service:
        await teach(service, "toot", "social.post_status(text='hi')")
        assert [*service.part(Feedback).used()] == [("publish a status", "social.post_status")]
    async with served(tmp_path, search={"record_usage": False}) as service:
        assert await hits(service, "toot") == []
        await teach(service, "toot", "social.post_status(text='hi')")
        assert await hits(service, "toot") == []
    assert stored(tmp_path) == {}


async def test_the_record_measures_search(tmp_path: Path) -> None:
    async with served(tmp_path) as service:
        await teach(service, "toot", "social.post_status(text='hi')")
        await hits(service, "publish a status", EVE)
        await call(service, "social.post_status(text='hi')", EVE)
        queries = service.discovery.labelled(None)
        assert [(one.query, one.gold) for one in queries] == [
            ("publish a status", (frozenset(("social.post_status",)),))
        ] * 2
        assert service.discovery.evaluate_search(queries).recall_1 == 1.0


async def test_the_core_searches_without_the_feature(tmp_path: Path) -> None:
    settings = Settings.model_validate({"name": "social", "state_folder": str(tmp_path)})
    others = tuple(feature for feature in FEATURES if feature.part is not Feedback)
    async with CodeMode(settings, {"social": [post_status]}, features=others) as service:
        await teach(service, "toot", "social.post_status(text='hi')")
        assert await hits(service, "toot") == []
