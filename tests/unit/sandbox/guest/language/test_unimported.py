"""A module that a program uses without an import is imported for it, with a note."""

from __future__ import annotations

import pytest

from tests.unit.sandbox.guest.host_double import run_guest

LEFT_OUT = "imported for the program, which left it out: "


@pytest.mark.parametrize(
    ("code", "value", "imports"),
    [
        ("json.dumps([1])", "[1]", "import json"),
        ("math.floor(2.5) + len(re.findall('a', 'aa'))", 4, "import math; import re"),
        ("import json\njson.loads(json.dumps(math.pi > 3))", True, "import math"),
        ("datetime.datetime(2026, 1, 2).isoformat()", "2026-01-02T00:00:00", "import datetime"),
        ("(datetime.datetime(2026, 1, 2) + datetime.timedelta(days=1)).day", 3, "import datetime"),
        ("datetime.strptime('2026-01-02', '%Y-%m-%d').day", 2, "from datetime import datetime"),
        ("urllib.parse.quote('a b')", "a%20b", "import urllib.parse"),
        ("def total(xs):\n    return statistics.mean(xs)\ntotal([1, 3])", 2, "import statistics"),
        ("sorted(collections.Counter('aab').items())", [["a", 2], ["b", 1]], "import collections"),
    ],
)
def test_what_was_not_imported_is_imported_and_noted(code: str, value: object, imports: str) -> None:
    ended = run_guest(code)
    assert (ended.status, ended.value, ended.notes) == ("completed", value, [LEFT_OUT + imports])


def test_calls_in_a_gather_without_an_import_run_in_parallel() -> None:
    ended = run_guest("await asyncio.gather(*[ns.add(n=n) for n in range(3)])", {"ns.add": lambda n: n})
    assert (ended.value, max(ended.batches)) == ([0, 1, 2], 3)
    assert ended.notes == [LEFT_OUT + "import asyncio"]


@pytest.mark.parametrize(
    ("code", "value"),
    [
        ("import json\njson.dumps(1)", "1"),
        ("json = {'dumps': 5}\njson['dumps']", 5),
        ("def f(time):\n    return time.upper()\nf('a')", "A"),
        ("json.list()", "of a tool"),
        ("'json.dumps'", "json.dumps"),
    ],
)
def test_names_of_the_program_and_of_tools_stay_what_they_are(code: str, value: object) -> None:
    ended = run_guest(code, {"json.list": lambda: "of a tool"} if "list" in code else {})
    assert (ended.value, ended.notes) == (value, [])


def test_an_input_with_the_name_of_a_module_is_the_input() -> None:
    ended = run_guest("queue.title()", inputs={"queue": "support"})
    assert (ended.value, ended.notes) == ("Support", [])


def test_what_programs_cannot_import_stays_unknown() -> None:
    ended = run_guest("os.getcwd() + socket.gethostname()")
    assert ended.status == "failed"
