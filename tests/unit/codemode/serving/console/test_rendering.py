"""Templates escape every value."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from jinja2 import UndefinedError

import codemode.serving.console
from codemode.serving.console.rendering import Templates, json_text, time_element

FOLDER = Path(codemode.serving.console.__file__).parent / "templates"
TEMPLATES = sorted(FOLDER.rglob("*.html"))

ERROR = {"title": "t", "status": 404, "code": "c", "nearest": [], "notice": "", "user": None, "csrf_token": ""}
FRAME = {"json_path": "", "csrf_header": "", "static": str, "path": lambda *_: "", "sections": []}


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
