"""Keywords in messages of several languages."""

from __future__ import annotations

import pytest

from codemode.menus.keywords import Keywords, Match, has_word


def found(keyword: str, text: str) -> tuple[bool, bool]:
    """Whether the keyword is found within words, and as a whole one."""
    keywords = {"it": {keyword: 1.0}}
    return bool(Keywords(keywords).find([text])), bool(Keywords(keywords, whole_words=True).find([text]))


@pytest.mark.parametrize(
    ("keyword", "text", "within", "whole"),
    [
        ("client", "Show me all CLIENTS", True, False),
        ("client", "a client, please", True, True),
        ("plan", "an airplane", True, False),
        ("plan", "the airplane's plan", True, True),
        ("came today", "who came today?", True, True),
        ("today", "who_came_today", True, False),
        ("came today", "who came\n  today", True, True),
        (" ai ", "paid", False, False),
        ("follow-up", "a follow-up!", True, True),
        ("c++", "is c++ fast", True, True),
        ("café", "un CAFÉ noir", True, True),
        ("café", "un cafe\u0301 noir", True, True),
        ("sesión", "cuantas sesiones, y la sesion de hoy", True, True),
        ("khách", "danh sách khach hàng", True, True),
        ("й", "и", False, False),
        ("straße", "die STRASSE", True, True),
        ("크롬", "크롬을 열어줘", True, True),
        ("롬", "크롬을 열어줘", True, False),
        ("날씨", "오늘 날씨가 어때?", True, True),
        ("予約", "明日の予約を確認して", True, True),
        ("天气", "今天天气怎么样", True, True),
        ("\uff57\uff49\uff46\uff49", "fix the WiFi", True, True),
        ("погода", "какая погода?", True, True),
        ("погод", "какая погода?", True, False),
        ("absent", "", False, False),
    ],
)
def test_a_keyword_is_found_within_words_or_as_a_whole_one(keyword: str, text: str, within: bool, whole: bool) -> None:
    assert found(keyword, text) == (within, whole)


def test_a_later_place_counts_where_the_first_is_within_a_word() -> None:
    assert has_word("planet plan", "plan")
    assert not has_word("planet planes", "plan")


def test_the_order_is_that_of_the_categories_and_each_tells_its_keyword() -> None:
    keywords = Keywords({"b": {"two": 1.0}, "a": {"none": 1.0, "one": 5.0}, "c": {}})
    assert keywords.find(["one two"]) == {"b": Match(1.0, "two"), "a": Match(1.0, "one")}


def test_weights_add_up_and_earlier_messages_count_less() -> None:
    keywords = Keywords({"mail": {"mail": 1.0, "send": 0.5}, "files": {"file": 2.0}})
    assert keywords.weigh(["send a mail"]) == {"mail": Match(1.5, "mail")}
    found = keywords.weigh(["send it", "which mail?", "a file"], decay=0.5)
    assert list(found.items()) == [("mail", Match(1.0, "mail")), ("files", Match(0.5, "file"))]


def test_a_keyword_does_not_reach_over_two_messages() -> None:
    assert not Keywords({"it": {"came today": 1.0}}).find(["today", "came"])
    assert not Keywords({"it": {"came today": 1.0}}).find(["came", "today"])
