"""Templates escape every value."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from jinja2 import UndefinedError
from markupsafe import Markup

import codemode.serving.console
from codemode.serving.console.rendering import (
    Templates,
    ago_element,
    breakable,
    decimal,
    duration,
    headed,
    json_text,
    time_element,
)

FOLDER = Path(codemode.serving.console.__file__).parent / "templates"
TEMPLATES = sorted(FOLDER.rglob("*.html"))

ERROR = {"title": "t", "status": 404, "code": "c", "nearest": [], "notice": "", "user": None, "csrf_token": ""}
FRAME = {"json_path": "", "csrf_header": "", "static": str, "path": lambda *_: "", "sections": [], "calls_waiting": 0}


def test_a_value_is_escaped_and_what_hides_is_shown() -> None:
    text = Templates().render(
        "error.html", {**ERROR, **FRAME, "detail": '<script>alert("x")</script> \u202egpj.exe\u200b'}
    )
    assert "&lt;script&gt;alert(&#34;x&#34;)&lt;/script&gt; \\u202egpj.exe\\u200b" in text


def test_a_missing_value_is_an_error() -> None:
    with pytest.raises(UndefinedError, match="'detail' is undefined"):
        Templates().render("error.html", {**ERROR, **FRAME})


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.name)
def test_no_template_goes_around_the_escaping(template: Path) -> None:
    text = template.read_text(encoding="utf-8")
    assert not re.search(r"\|\s*(safe|e|escape|forceescape|tojson|xmlattr|urlize)\b|autoescape|Markup", text)
    assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\son\w+=|\sstyle=|hx-on|javascript:|\bjs:", text), (
        "inline code"
    )
    assert not re.search(r"\s[\w:-]+=\{\{", text), "an attribute without quotes"
    assert not re.search(r"https?://", text), "another host"


@pytest.mark.parametrize(
    ("moment", "shown"),
    [
        (1_795_000_000_125_000, '<time datetime="2026-11-18T11:06:40.125Z">2026-11-18 11:06:40 UTC</time>'),
        ("2026-11-26T03:00:00Z", '<time datetime="2026-11-26T03:00:00Z">2026-11-26 03:00:00 UTC</time>'),
        ("<b>", "&lt;b&gt;"),
    ],
)
def test_a_time_is_an_element(moment: float | str, shown: str) -> None:
    assert time_element(moment) == shown


def test_data_is_indented_json() -> None:
    assert json_text({"a": "é<"}) == '{\n  "a": "é<"\n}'


def test_rows_name_their_columns_and_heads_stand_over_numbers() -> None:
    body = Markup('<tr><td>a</td><td class="number">1</td></tr><tr><td colspan="2">none</td></tr>')
    rows = headed(body, ["Tool", 'Calls "all"'])
    assert rows.body == (
        '<tr><td data-head="Tool">a</td><td class="number" data-head="Calls &#34;all&#34;">1</td></tr>'
        '<tr><td colspan="2">none</td></tr>'
    )
    assert rows.numbers == {1}


def test_a_member_wins_over_a_method_of_dict() -> None:
    environment = Templates()._environment
    assert environment.from_string("{{ one.values }} {{ one.items() | length }}").render(one={"values": 3}) == "3 1"


def test_a_blank_cell_is_empty() -> None:
    assert headed(Markup('<tr><td class="number">\n  </td></tr>'), ["Calls"]).body == (
        '<tr><td class="number" data-head="Calls"></td></tr>'
    )


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0"), (1_204, "1,204"), (0.0, "0"), (3.5, "3.50"), (0.004_22, "0.0042"), (0.5, "0.50"), (12_345.6, "12,346")],
)
def test_small_amounts_keep_two_digits(number: float, text: str) -> None:
    assert decimal(number) == text


def test_an_id_breaks_at_its_joints_and_is_escaped() -> None:
    assert breakable("gym.get_<b>") == "gym.<wbr>get_<wbr>&lt;b&gt;<wbr>"


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.0204, "20 ms"), (1.26, "1.3 s"), (59.2, "59 s"), (180, "3 min"), (7_200, "2 h"), (259_200, "3 days")],
)
def test_a_duration_has_its_largest_unit(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_a_time_says_how_long_ago_it_was() -> None:
    then = (datetime.now(UTC) - timedelta(hours=3, minutes=5)).isoformat()
    assert f">{'3 h ago'}</time>" in ago_element(then)
    assert ago_element("<b>") == "&lt;b&gt;"
