"""A namespace with the name of a module, and the module that a program imports."""

from __future__ import annotations

import pytest

from sandbox.guest.language.compilation import Program, compile_program
from sandbox.guest.library.modules import OFFERED


def _compiled(code: str) -> Program:
    names = ["calendar", "shop"]
    return compile_program(code, names=names, limit_bytes=10_000, limit_depth=100, modules=OFFERED)


@pytest.mark.parametrize(
    ("code", "calls"),
    [
        ("import calendar\ncalendar.monthrange(2026, 2)\nshop.list()", ["shop.list"]),
        ("import calendar\ntools.calendar.events.list()", ["calendar.events.list"]),
        ("import calendar as c\nc.monthrange(2026, 2)\ncalendar.events.list()", ["calendar.events.list"]),
        ("from calendar import monthrange\ncalendar.events.list()", ["calendar.events.list"]),
        ("calendar.events.list()", ["calendar.events.list"]),
        ("import shop\nshop.list()", ["shop.list"]),  # no module: the import changes nothing
    ],
)
def test_an_imported_module_is_no_namespace(code: str, calls: list[str]) -> None:
    program = _compiled(code)
    assert [site.name for site in program.sites] == calls
    assert not program.refusals


def test_a_namespace_that_an_import_hides_is_refused_before_anything_runs() -> None:
    (refusal,) = _compiled("import calendar\nx = calendar.monthrange(2026, 2)\ncalendar.events.list()").refusals
    assert (refusal.rule, refusal.line) == ("import", 3)
    assert refusal.message == (
        "calendar.events.list(...) is no operation: `import calendar` (line 1) binds Python's module instead"
    )
    assert refusal.hint == "write tools.calendar.events.list(...), or `import calendar as py_calendar`"
