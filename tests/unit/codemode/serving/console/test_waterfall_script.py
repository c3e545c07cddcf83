"""What `static/waterfall.js` has in common with the server, since a browser cannot import it."""

from __future__ import annotations

import re

from codemode.executions.types.waterfall import STATES
from codemode.serving.console.views import STATIC
from codemode.text import visible

SCRIPT = (STATIC / "waterfall.js").read_text(encoding="utf-8")


def test_the_states_have_the_same_colours_and_marks() -> None:
    block = SCRIPT.partition("const STATES = {")[2].partition("};")[0]
    found = re.findall(r'^  (\w+): \["(#\w+)", "(.)"\],$', block, re.MULTILINE)
    assert {state: (colour, mark) for state, colour, mark in found} == STATES


def test_the_same_characters_are_shown_as_escapes() -> None:
    (pattern,) = re.findall(r"/(\[\\u0000.*\])/gu", SCRIPT)
    as_python = re.sub(r"\\u\{(\w+)\}", lambda found: f"\\U{found[1]:0>8}", pattern)
    assert as_python == visible._UNSEEN.pattern
