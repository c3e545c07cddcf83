"""Deferred modules: their code is read in advance, and executed by the import."""

from __future__ import annotations

import py_compile
import sys
from importlib import import_module, invalidate_caches
from typing import TYPE_CHECKING

import pytest

from sandbox import Sandbox
from sandbox.guest.library.allowlist import MODULES
from sandbox.guest.library.deferred import DEFERRED, DeferredModules

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_NAMES = ("rarely", "rarely.used")


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    (tmp_path / "rarely").mkdir()
    (tmp_path / "rarely" / "__init__.py").write_text("from rarely.used import value")
    (tmp_path / "rarely" / "used.py").write_text("value = 1")
    finders = list(sys.meta_path)
    sys.path.append(str(tmp_path))
    yield tmp_path
    sys.path.remove(str(tmp_path))
    sys.meta_path[:] = finders
    for name in _NAMES:
        sys.modules.pop(name, None)
    invalidate_caches()


def test_a_deferred_package_is_imported_without_its_files(folder: Path) -> None:
    DeferredModules(_NAMES).install()
    for name in ("__init__.py", "used.py"):
        (folder / "rarely" / name).unlink()

    assert not set(_NAMES) & set(sys.modules)
    assert import_module("rarely").value == 1


def test_a_compiled_module_of_an_older_source_is_not_taken(folder: Path) -> None:
    source = folder / "rarely" / "used.py"
    py_compile.compile(str(source), doraise=True)
    source.write_text("value = 1_000")
    DeferredModules(_NAMES).install()

    assert import_module("rarely").value == 1_000


def test_a_compiled_module_that_is_checked_by_hash_is_taken(folder: Path) -> None:
    mode = py_compile.PycInvalidationMode.CHECKED_HASH
    py_compile.compile(str(folder / "rarely" / "used.py"), doraise=True, invalidation_mode=mode)
    DeferredModules(_NAMES).install()

    assert import_module("rarely").value == 1


def test_modules_that_are_imported_or_missing_are_left_out(folder: Path) -> None:
    import_module("rarely")

    deferred = DeferredModules((*_NAMES, "missing", "missing.module"))

    assert not any(name in deferred for name in (*_NAMES, "missing", "missing.module"))


def test_packages_come_before_their_modules() -> None:
    seen: set[str] = set()
    for name in DEFERRED:
        package = name.rpartition(".")[0]
        assert not package or package in seen or package not in DEFERRED
        seen.add(name)


async def test_every_module_is_imported_behind_the_walls() -> None:
    program = "\n".join(
        f"try:\n    import {name}\nexcept ImportError as error:\n    failed.append(str(error))" for name in MODULES
    )
    async with Sandbox(workers=1) as sandbox:
        outcome = await sandbox.run(f"failed = []\n{program}\nfailed")

    assert outcome.value == []


@pytest.mark.parametrize("codec", ["cp437", "idna", "iso8859-15", "latin-1", "punycode", "utf-16-be", "utf-8-sig"])
async def test_codecs_are_found_behind_the_walls(codec: str) -> None:
    async with Sandbox(workers=1) as sandbox:
        outcome = await sandbox.run(f"'a'.encode({codec!r}).decode({codec!r})")

    assert outcome.value == "a"
