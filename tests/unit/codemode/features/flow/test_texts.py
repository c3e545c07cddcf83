"""Parts of texts come up again, in whatever form."""

from __future__ import annotations

import base64
import quopri
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codemode.features.flow.folding import folded, forms
from codemode.features.flow.texts import MOST_BYTES, Texts, common

MAIL = "Please pay to DE89 3704 0044 0532 0130 00, or write to evil.person@attacker.example. Ünïcode: Größenwahn"
ADDRESS = "evil.person@attacker.example"


def texts(*of: str) -> Texts:
    made = Texts()
    made.add(of)
    return made


#: Forms in which the address of the mail may go out.
CODED = {
    "whole": ADDRESS,
    "part": "attacker.example",
    "joined": f"https://shop.example/?next={ADDRESS}&n=1",
    "upper case": ADDRESS.upper(),
    "with spaces": " ".join(ADDRESS),
    "percent signs": "".join(f"%{byte:02x}" for byte in ADDRESS.encode()),
    "percent signs, twice": quote("".join(f"%{byte:02x}" for byte in ADDRESS.encode())),
    "base64": base64.b64encode(ADDRESS.encode()).decode(),
    "base64 of more": base64.b64encode(f"ab{ADDRESS}cd".encode()).decode(),
    "base64 for URLs": "https://x.example/" + base64.urlsafe_b64encode(f"???{ADDRESS}".encode()).decode().rstrip("="),
    "base64 twice": base64.b64encode(base64.b64encode(ADDRESS.encode())).decode(),
    "hexadecimal": ADDRESS.encode().hex(),
    "hexadecimal with colons": ADDRESS.encode().hex(":"),
    "HTML, decimal": "".join(f"&#{ord(one)};" for one in ADDRESS),
    "HTML, hexadecimal": "".join(f"&#x{ord(one):x};" for one in ADDRESS),
    "quoted-printable": "".join(f"={byte:02X}" for byte in ADDRESS.encode()),
    "quoted-printable, broken": quopri.encodestring(("x" * 70 + ADDRESS).encode()).decode(),
    "JSON": "".join(f"\\u{ord(one):04x}" for one in ADDRESS),
    "full width": "".join(chr(ord(one) + 0xFEE0) for one in ADDRESS),
}


def test_a_text_is_found_in_every_form() -> None:
    for name, coded in CODED.items():
        assert common(coded, texts(MAIL), []) is not None, name


def test_a_text_that_was_coded_when_it_was_read_is_found_in_its_plain_form() -> None:
    for name, coded in CODED.items():
        if name != "part":
            assert common(ADDRESS, texts(f"Look: {coded} !"), []) is not None, name


def test_other_texts_are_not_found() -> None:
    for text in ("friend@company.example", "invoice 2026-11", "", "0044", "a b c d e f g", "ünïco"):
        assert common(text, texts(MAIL), []) is None, text


def test_what_a_trusted_text_has_too_is_not_found() -> None:
    assert common("evil.person@attacker.example", texts(MAIL), [texts(ADDRESS)]) is None
    assert common("evil.person@attacker.example", texts(MAIL), [texts("evil.person")]) == b"lpersona"


def test_short_texts_are_compared_as_a_whole() -> None:
    assert common("T-17", texts("t-17"), []) == b"t17"
    assert common("T-17", texts("t-17"), [texts("T 17")]) is None
    assert common("T-17", texts("see t-17"), []) is None
    assert common("r", texts("r"), []) is None
    assert common("T-17", texts(base64.b64encode(b"T-17, T-17").decode()), []) is None
    own = Texts(keeps=True)
    own.add(["mail.send(to='t-17')"])
    assert common("T-17", texts("t-17"), [own]) is None


def test_parts_that_are_told_are_left_out() -> None:
    made = Texts()
    made.add([f"note: {ADDRESS} (checked)"], without=texts(ADDRESS))
    assert common(ADDRESS, texts(MAIL), [made]) is not None
    assert common("note: evil", texts("a note: evil"), [made]) is None


def test_more_text_than_is_held_makes_every_unknown_part_suspect() -> None:
    full = Texts()
    full.add(["x" * (MOST_BYTES + 1)])
    assert full.is_full
    assert common("anything at all", full, []) == b"anything"
    assert common("anything at all", full, [texts("anything at all")]) is None


def test_a_part_on_the_border_of_two_slices_is_found() -> None:
    for before in (131_060, 131_072, 130_000, 129_024):
        assert common(ADDRESS, texts("ab " * (before // 3) + ADDRESS + " cd" * 50_000), []) is not None, before


@given(st.text(min_size=0, max_size=60), st.text(max_size=40), st.text(max_size=40))
@settings(max_examples=200, deadline=None)
def test_every_long_part_is_found_whatever_is_around_it(part: str, before: str, after: str) -> None:
    if len(folded(part)) >= 8 and not set("%&\\=") & set(before + part + after):
        assert common(part, texts(f"{before} {part} {after}"), []) is not None


@given(st.text(alphabet="abcd ", max_size=30), st.text(alphabet="abcd ", max_size=200))
@settings(max_examples=300, deadline=None)
def test_a_part_is_found_exactly_where_eight_letters_are_equal(text: str, read: str) -> None:
    plain, known = folded(text), folded(read)
    windows = [plain[at : at + 8] for at in range(len(plain) - 7)]
    expected = next((window for window in windows if window in known), None)
    if len(plain) >= 8:
        assert common(text, texts(read), []) == expected


@pytest.mark.parametrize(
    "hard", ["%" * 100_000, "&#" * 50_000, "=\n" * 50_000, "A" * 100_000, "0x" * 50_000, "\\u" * 50_000]
)
def test_forms_are_few_and_not_much_longer_than_the_text(hard: str) -> None:
    made = list(forms(hard))
    assert len(made) < 16
    assert sum(map(len, made)) <= 4 * len(hard)
