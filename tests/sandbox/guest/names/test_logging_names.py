"""Methods of `logging`, called by hand, write to objects of their class alone."""

from __future__ import annotations

import pytest

from tests.sandbox.guest.host_double import run_guest

WRITES = (
    "logging.Handler.set_name(json.JSONEncoder, 'x')",
    "logging.Handler.setLevel(collections.Counter, 5)",
    "logging.Handler.setFormatter(json.JSONEncoder(), 'x')",
    "logging.StreamHandler.setStream(collections.Counter, 5)",
    "type(logging.getLogger()).setLevel(json.JSONDecoder, 5)",
    "logging.Formatter().format(type('R', (), {'getMessage': lambda self: 'x'})())",
    "logging.Formatter('{message.__class__}', style='{').format(records[0])",
    "logging.Formatter('{exc_info[2].tb_frame}', style='{').format(records[0])",
)


@pytest.mark.parametrize("write", WRITES)
def test_other_objects_are_refused(write: str) -> None:
    code = (
        "import collections, json, logging\nrecords = []\n"
        "class Keep(logging.Handler):\n    def emit(self, record): records.append(record)\n"
        "logging.getLogger('a').addHandler(Keep())\nlogging.getLogger('a').error('m')\n"
        f"try:\n    {write}\nexcept (AttributeError, TypeError, ValueError) as e:\n    print('refused')"
    )

    ended = run_guest(code)

    assert (ended.status, ended.output) == ("completed", "refused\n")


def test_a_form_that_cannot_be_filled_ends_no_program() -> None:
    ended = run_guest("import logging\nlogging.warning('%d', 'x')\nprint('on')")

    assert ended.output == "on\n"
    assert "Logging error" in ended.notes[0]
