"""The table of what programs can import agrees with the library, and with the facades that there are."""

from __future__ import annotations

from importlib import import_module
from types import FunctionType
from typing import Any

import pytest

from sandbox.guest.library.allowlist import MODULES
from sandbox.guest.library.modules import library_names
from tests.unit.sandbox.guest.host_double import run_guest

_IMMUTABLE_TYPE, _HEAP_TYPE = 1 << 8, 1 << 9
_ROWS = [(module, name) for module, listed in MODULES.items() for name in listed.facade]


def test_what_is_raw_cannot_be_changed_and_what_is_lent_is_a_class(subtests: pytest.Subtests) -> None:
    for module in MODULES:
        with subtests.test(module):
            listed, found = MODULES[module], library_names(module)

            changeable = [name for name in listed.raw if name in found and _is_class_in_python(found[name])]
            no_class = [name for name in listed.lent if name in found and not isinstance(found[name], type)]

            assert changeable == []
            assert no_class == []


def _is_class_in_python(value: Any) -> bool:
    flags = getattr(value, "__flags__", 0) if isinstance(value, type) else 0
    return bool(flags & _HEAP_TYPE) and not flags & _IMMUTABLE_TYPE and "__dict__" in dir(value) and _has_code(value)


def _has_code(kind: Any) -> bool:
    return any(isinstance(item, FunctionType) for item in vars(kind).values())


def test_no_name_stands_twice(subtests: pytest.Subtests) -> None:
    for module in MODULES:
        with subtests.test(module):
            listed = MODULES[module]
            names = [*listed.raw, *listed.lent, *listed.facade]
            assert len(names) == len(set(names))


@pytest.mark.parametrize("module", sorted({module for module, _ in _ROWS}))
def test_what_is_a_facade_is_there_and_not_the_library(module: str) -> None:
    names = list(MODULES[module].facade)
    code = f"import {module} as m\n[name for name in {names!r} if not hasattr(m, name)]"

    missing = run_guest(code).value or []

    assert [name for name in missing if hasattr(import_module(module), name)] == []


def test_a_program_reads_all_names_of_all_modules() -> None:
    imports = "\n".join(f"from {module} import *" for module in MODULES)
    assert run_guest(f"{imports}\n1").status == "completed"


def test_no_function_of_the_library_is_handed_over_with_its_module() -> None:
    functions = "(len, random.random, json.dumps)"
    code = f"import random, json\n[hasattr(f, '__self__') or hasattr(f, '__globals__') for f in {functions}]"
    assert run_guest(code).value == [False, False, False]
