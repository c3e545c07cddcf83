"""How sure it is that a tool answers a query, by what callers called after similar ones."""

from __future__ import annotations

import pytest

from codemode.features.feedback.evidence import Evidence
from codemode.features.feedback.record import Call

TODAY = 20_000


class Counted(str):
    """The id of a tool that counts how often it is looked up."""

    __slots__ = ()
    times = 0

    def __hash__(self) -> int:
        Counted.times += 1
        return super().__hash__()


def evidence(*calls: Call) -> Evidence:
    made = Evidence({})
    made.add(calls, TODAY)
    return made


def test_the_same_query_is_as_sure_as_its_callers_are_many() -> None:
    calls = [Call("toot", "social.post", f"caller {number}") for number in range(4)]
    sure = [evidence(*calls[:count]).of("toot", "somebody") for count in range(5)]
    assert [each.get("social.post", 0.0) for each in sure] == pytest.approx([0, 1 / 3, 1 / 2, 3 / 5, 2 / 3])


def test_calls_of_one_caller_count_once_for_others_and_three_times_for_itself() -> None:
    often = evidence(*[Call("toot", "social.post", "ann")] * 50)
    assert often.of("toot", "ben") == pytest.approx({"social.post": 1 / 3})
    assert often.of("toot", "ann") == pytest.approx({"social.post": 3 / 5})


def test_many_queries_of_one_caller_do_not_add_up() -> None:
    queries = ["post a toot", "a toot", "toot it", "the toot", "toot toot"]
    many = evidence(*[Call(query, "bank.transfer", "eve") for query in queries for _ in range(9)])
    assert many.of("a toot", "ben")["bank.transfer"] == pytest.approx(1 / 3)


def test_callers_of_similar_queries_agree() -> None:
    agreeing = evidence(Call("post a toot", "social.post", "ann"), Call("post the toot", "social.post", "ben"))
    assert agreeing.of("post toot", "somebody")["social.post"] == pytest.approx(1 / 2)


def test_a_query_in_vain_counts_less() -> None:
    (sure,) = evidence(Call("toot", "social.post", "ann", direct=False)).of("toot", "ben").values()
    assert sure == pytest.approx(0.8 / 3)


def test_words_that_lead_to_many_tools_say_little() -> None:
    calls = [Call(f"send {thing}", f"mail.{thing}", "ann") for thing in ("letters", "parcels", "flowers", "invoices")]
    sure = evidence(*calls).of("send flowers", "ben")
    assert sure["mail.flowers"] == pytest.approx(1 / 3)
    assert sure.get("mail.letters", 0.0) < 0.1
    assert evidence(*calls).of("send", "ben")["mail.letters"] < 0.1


def test_words_are_compared_by_their_stems_without_function_words() -> None:
    (sure,) = evidence(Call("posting of toots", "social.post", "ann")).of("post the toot", "ben").values()
    assert sure == pytest.approx(1 / 3)
    assert evidence(Call("toot", "social.post", "ann")).of("a status", "ben") == {}
    assert evidence(Call("toot", "social.post", "ann")).of("", "ben") == {}


def test_a_forgotten_row_is_no_evidence() -> None:
    old = evidence(Call("toot", "social.post", "ann"))
    assert len(old) == 1
    old.add([Call("invoice", "shop.invoices", "ann")], TODAY + 1_000)
    assert old.of("toot", "ann") == {}
    assert set(old.of("invoice", "ann")) == {"shop.invoices"}


def test_a_role_with_many_long_queries_is_read_once_for_each_word() -> None:
    words = [f"word{letter}" for letter in "abcdefghijklmnopqrst"]
    calls = [Call(" ".join((f"q{number}", *words)), Counted(f"shop.tool_{number}"), "eve") for number in range(100)]
    many = evidence(*calls)
    Counted.times = 0
    many.of(" ".join(words), "ben")
    assert Counted.times < 10 * len(calls) * len(words)
