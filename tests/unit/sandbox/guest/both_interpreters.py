"""One program in a guest and under CPython."""

from __future__ import annotations

import contextlib
import io

from tests.unit.sandbox.guest.host_double import run_guest


def under_cpython(code: str) -> tuple[str, str]:
    printed = io.StringIO()
    failed = ""
    with contextlib.redirect_stdout(printed):
        try:
            exec(compile(code, "<program>", "exec"), {"__name__": "__main__"})  # noqa: S102 - made by our generator
        except Exception as error:  # noqa: BLE001 - any failure is compared
            failed = type(error).__name__
    return printed.getvalue(), failed


def in_a_guest(code: str) -> tuple[str, str]:
    ended = run_guest(code)
    return ended.output, ended.failure["type"] if ended.failure else ""
