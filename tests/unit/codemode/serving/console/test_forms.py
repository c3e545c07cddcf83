"""Posted forms."""

from __future__ import annotations

import pytest

from codemode.serving.console.forms import MOST_FIELDS, parsed


def test_a_form_has_its_fields() -> None:
    form = parsed(b"a=1&b=x+%C3%A9&a=2&empty=")
    assert form.getlist("a") == ["1", "2"]
    assert (form["b"], form["empty"]) == ("x é", "")


def test_line_breaks_are_those_of_programs() -> None:
    assert parsed(b"code=a%0D%0Ab")["code"] == "a\nb"


@pytest.mark.parametrize("body", [b"a=%FF", b"a=\xff", b"&".join([b"a=1"] * (MOST_FIELDS + 1))])
def test_a_malformed_form_is_rejected(body: bytes) -> None:
    with pytest.raises(ValueError, match=r"."):
        parsed(body)
