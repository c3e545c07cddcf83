"""What a value surely fits, and what it may fit: the readings that others have of it."""

from __future__ import annotations

import base64
import json
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codemode.gateway.patterns import LONGEST_LOOKED_AT, ValuePattern

OWN = ValuePattern("*@own.org")
EVIL = ValuePattern("*@evil.org")

#: Texts that some reader takes for several addresses.
SEVERAL = (
    "x@evil.org, a@own.org",
    "x@evil.org;a@own.org",
    "x@evil.org a@own.org",
    "x@evil.org\na@own.org",
    "x@evil.org\r\nBcc: a@own.org",
    "x@evil.org\x00@own.org",
    "x@evil.org%2Ca@own.org",
    "x@evil.org%252Ca@own.org",
    "x%40evil.org,a@own.org",
    "x@evil.org&#44;a@own.org",
    "x@evil.org\uff0ca@own.org",  # a fullwidth comma
    "x@evil.org\u200b,a@own.org",
    "x@evil.org\u2028a@own.org",
    "<x@evil.org> a@own.org",
    '"a@own.org" <x@evil.org>@own.org',
    "x@evil.org(@own.org",
    '["x@evil.org", "a@own.org"]',
)
#: Texts that some reader takes to another place.
ELSEWHERE = (
    "x\uff20evil.org@own.org",  # a fullwidth @
    "@evil.org:a@own.org",
    "x%evil.org@own.org",
    "evil.org!x@own.org",
    "x@evil.org/@own.org",
    "x@evil.org\\@own.org",
    "x@evil.org?@own.org",
    "x@evil.org#@own.org",
)


@pytest.mark.parametrize("address", ["ann@own.org", "ann.smith+news@own.org", "o'brien@own.org", "zo\u00eb@own.org"])
def test_one_address_surely_fits(address: str) -> None:
    assert OWN.surely_fits(address)


@pytest.mark.parametrize("text", [*SEVERAL, *ELSEWHERE])
def test_what_holds_another_address_does_not_surely_fit(text: str) -> None:
    assert not OWN.surely_fits(text)


@pytest.mark.parametrize(
    "value",
    [
        "a@own.org\n",
        " a@own.org",
        "a@own.org.",
        "a@own.org.evil.org",
        "a@OWN.ORG",
        "a@\u043ewn.org",  # a Cyrillic o
        "Ann <a@own.org>",
        '"a@own.org"',
        ["a@own.org"],
        {"to": "a@own.org"},
        None,
        True,
        7,
        "",
        "a@own.org" + "." * 5000,
    ],
)
def test_what_is_not_the_plain_address_does_not_surely_fit(value: Any) -> None:
    assert not OWN.surely_fits(value)


@pytest.mark.parametrize(
    "text",
    [
        "x@evil.org",
        "X@EVIL.ORG",
        "x@evil.org.",
        "x@\uff45vil.org",
        "x@\u0435vil.org",  # a Cyrillic e
        "x@e\u0301vil.org",
        "x@ev\u00adil.org",  # a soft hyphen
        "x @ evil.org",
        "x@(a comment)evil.org",
        "x@evil.org (a comment)",
        "Bob <x@evil.org>",
        '{"to": ["a@own.org", "x@evil.org"]}',
        '"x\\u0040evil.org"',
        "x\\u0040evil.org",
        json.dumps({"inner": json.dumps(["x@evil.org"])}),
        "x%40evil%2Eorg",
        "x%2540evil.org",
        "x&#64;evil.org",
        *SEVERAL,
    ],
)
def test_what_may_reach_a_forbidden_address_may_fit(text: str) -> None:
    assert EVIL.may_fit(text)


def test_a_forbidden_address_is_found_in_lists_and_names_of_fields() -> None:
    assert EVIL.may_fit([["a@own.org"], {"x@evil.org": True}])
    assert not EVIL.may_fit([["a@own.org"], {"evil.org": True}])


def test_bytes_written_out_are_read_and_content_by_reference_may_be_anything() -> None:
    assert EVIL.may_fit({"$base64": base64.b64encode(b"x@evil.org").decode()})
    assert not EVIL.may_fit({"$base64": base64.b64encode(b"a@own.org").decode()})
    assert not EVIL.may_fit({"$base64": "no base64"})
    assert EVIL.may_fit({"$content": "c_1", "media_type": "text/plain"})
    assert not OWN.surely_fits({"$base64": base64.b64encode(b"a@own.org").decode()})


def test_a_path_does_not_walk_up() -> None:
    reports = ValuePattern("reports/**")
    assert reports.surely_fits("reports/2026/may.pdf")
    for text in ("reports/../secrets", "reports/%2e%2e/secrets", "reports/..\\secrets", "reports/./../x", "secrets"):
        assert not reports.surely_fits(text), text
    assert not ValuePattern("reports/*").surely_fits("reports/2026/may.pdf")


def test_a_host_is_a_word() -> None:
    host = ValuePattern("https://*.own.org/**")
    assert host.surely_fits("https://api.own.org/v1/x?y=1")
    for text in ("https://evil.com/.own.org/", "https://evil.com#.own.org/", "https://u:p@evil.com/.own.org/"):
        assert not host.surely_fits(text), text


def test_numbers_and_booleans_are_compared_as_json_writes_them() -> None:
    assert ValuePattern("100").surely_fits(100)
    assert ValuePattern("100").surely_fits(100.0)
    assert ValuePattern("true").surely_fits(True)
    assert not ValuePattern("1").surely_fits(True)
    assert ValuePattern("100").may_fit("100")


def test_a_star_alone_takes_any_scalar() -> None:
    assert ValuePattern("*").surely_fits("any thing\n")
    assert not ValuePattern("*").surely_fits(["a"])


def test_a_text_too_long_to_look_at_may_fit() -> None:
    assert EVIL.may_fit("x" * (LONGEST_LOOKED_AT + 1))
    assert not EVIL.may_fit("x" * LONGEST_LOOKED_AT)
    assert EVIL.may_fit(["x" * 1_000] * 101)
    assert not EVIL.may_fit([["x" * 1_000] * 100, 1, True])


@pytest.mark.parametrize("marks", ["\u0301\u0316", "\u0f73", "\uff9e\u0301"])
def test_no_text_holds_the_host_up(marks: str) -> None:
    """To put marks in order takes time that grows with the square of how many there are, and so does punycode."""
    assert not OWN.surely_fits("a" + marks * 1_000_000 + "@own.org")
    assert not EVIL.may_fit("a" + marks * (90_000 // len(marks)))
    assert EVIL.may_fit("x@evil.org" + marks * (90_000 // len(marks)))
    assert not any(EVIL.may_fit("xn--" + "a" * 99_000 + str(n)) for n in range(10))


@pytest.mark.parametrize("text", ["x&#00000064;evil.org", f"x&#{'0' * 5_000}64;evil.org", "x&#x00040;evil.org"])
def test_numbers_of_characters_are_read_however_long_they_are(text: str) -> None:
    assert EVIL.may_fit(text)
    assert not OWN.surely_fits(f"{text},@own.org")


def test_numbers_of_no_character_are_read() -> None:
    assert not EVIL.may_fit(f"&#{'9' * 5_000};")
    assert EVIL.may_fit(f"&#{'9' * 5_000};,x@evil.org")


@given(st.lists(st.sampled_from("a*"), max_size=8).map("".join), st.text("ab", max_size=12))
def test_the_two_matchers_agree_on_words(pattern: str, text: str) -> None:
    made = ValuePattern(pattern.replace("**", "*") or "a")
    assert made.may_fit(text) or not made.surely_fits(text)


@given(st.text(max_size=40))
def test_what_surely_fits_ends_as_the_pattern_does_and_has_one_at_sign(text: str) -> None:
    for made in (text, f"{text}@own.org", f"x@evil.org{text}a@own.org", quote(text) + "@own.org"):
        if OWN.surely_fits(made):
            assert made.endswith("@own.org")
            assert made.count("@") == 1
            assert not EVIL.may_fit(made)
