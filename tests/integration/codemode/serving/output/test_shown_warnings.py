"""Warnings about sources are printed once, and again when they differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codemode.serving.output.shown_warnings import show_warnings
from codemode.sources.factory import LoadedSource
from codemode.sources.loaded import Failure, SourceWarning, Surface
from codemode.transports.absent import AbsentTransport

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def _source(*reasons: str, failure: Failure | None = None) -> LoadedSource:
    warnings = tuple(SourceWarning("", reason) for reason in reasons)
    return LoadedSource("api", Surface((), warnings, failure=failure), AbsentTransport("api", ""))


def _printed(source: LoadedSource, cache: Path, capsys: pytest.CaptureFixture[str]) -> str:
    show_warnings({"api": source}, cache)
    return capsys.readouterr().err


def test_the_same_warnings_are_printed_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cache = tmp_path / "cache"
    assert _printed(_source("one"), cache, capsys) == "api: one\n"
    assert _printed(_source("one"), cache, capsys) == ""
    assert _printed(_source("one", "two"), cache, capsys) == "api: one\napi: two\n"
    assert _printed(_source(), cache, capsys) == ""
    assert _printed(_source("one"), cache, capsys) == "api: one\n"


def test_a_failure_is_printed_each_time(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    failed = _source("cannot be reached", failure=Failure("cannot be reached", "gone"))
    for _ in range(2):
        assert _printed(failed, tmp_path, capsys) == "api: cannot be reached\n"


def test_without_a_folder_to_remember_in_warnings_are_repeated(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "file"
    file.write_text("no folder", encoding="utf-8")
    for _ in range(2):
        assert _printed(_source("one"), file, capsys) == "api: one\n"
