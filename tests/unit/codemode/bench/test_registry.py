"""Suites and their tasks are found by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from codemode.bench import clone
from codemode.bench.clone import names_of
from codemode.bench.registry import chosen_tasks, suite_of
from codemode.errors import ConfigurationError

if TYPE_CHECKING:
    from pathlib import Path

OWN = """
class Own:
    name = "own"
    def tasks(self):
        return []
class Folder:
    def __init__(self, folder):
        self.name = f"folder:{folder}"
    def tasks(self):
        raise LookupError("no data")
class Missing:
    name = "tau2:retail"
    def tasks(self):
        import a_package_that_is_missing
own = Own()
other = 1
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "own.py"
    file.write_text(OWN, encoding="utf-8")
    return file


def test_the_bundled_gym_has_tasks_by_id_and_by_number() -> None:
    gym = suite_of("gym")
    assert [task.id for task in chosen_tasks(gym, "dark-theme")] == ["dark-theme"]
    assert len(chosen_tasks(gym, "3")) == 3
    assert len(chosen_tasks(gym, "")) == len(gym.tasks())


def test_an_unknown_task_is_rejected_with_the_nearest() -> None:
    with pytest.raises(ConfigurationError, match="dark-theme"):
        chosen_tasks(suite_of("gym"), "dark-them")
    with pytest.raises(ConfigurationError, match="at least one task"):
        chosen_tasks(suite_of("gym"), "0")


def test_tasks_are_chosen_by_a_file_for_several_suites(tmp_path: Path) -> None:
    file = tmp_path / "tasks.txt"
    file.write_text("# two suites\ntau2 retail.1\ngym next-class\ngym dark-theme  # the last one\n\n")
    assert [task.id for task in chosen_tasks(suite_of("gym"), f"@{file}")] == ["next-class", "dark-theme"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("gym", "line 1 is not a suite and a task, such as: gym dark-theme"),
        ("tau2 retail.1", "it has no task of the suite gym"),
        ("gym dark-them", "gym has no task 'dark-them'"),
        (None, "No such file"),
    ],
)
def test_a_wrong_file_of_tasks_is_rejected(tmp_path: Path, text: str | None, message: str) -> None:
    file = tmp_path / "tasks.txt"
    if text is not None:
        file.write_text(text)
    with pytest.raises(ConfigurationError, match=message):
        chosen_tasks(suite_of("gym"), f"@{file}")


def test_an_unknown_suite_is_rejected_with_the_nearest() -> None:
    with pytest.raises(ConfigurationError, match="agentdojo"):
        suite_of("agentdoj")


def test_each_suite_of_the_clone_is_a_file_with_a_suite() -> None:
    suites = names_of("suites")
    assert {"agentdojo", "bfcl", "m3", "surface", "tau2"} == set(suites)
    assert suite_of("tau2:retail").name == "tau2:retail"
    assert all("\nsuite = " in file.read_text(encoding="utf-8") for file in suites.values())


def test_outside_of_a_clone_a_suite_is_named_by_its_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clone, "FOLDER", tmp_path)
    with pytest.raises(ConfigurationError, match=r"come with a clone of codemode\. A suite .* FILE\.py:NAME"):
        suite_of("tau2:retail")


def test_a_suite_of_the_clone_whose_package_is_missing_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clone, "FOLDER", tmp_path)
    (tmp_path / "suites").mkdir()
    (tmp_path / "suites" / "others.py").write_text("import a_package_that_is_missing", encoding="utf-8")
    with pytest.raises(ConfigurationError, match=r"others .*a_package_that_is_missing.*docs/how-to/bench\.md"):
        suite_of("others")


def test_a_suite_of_ones_own_is_in_a_file(file: Path) -> None:
    assert suite_of(f"{file}:Own").name == "own"
    assert suite_of(f"{file}:own").name == "own"
    with pytest.raises(ConfigurationError, match="is not a suite"):
        suite_of(f"{file}:other")


def test_a_suite_of_ones_own_takes_a_variant(file: Path) -> None:
    assert suite_of(f"{file}:Folder:a/b:c").name == "folder:a/b:c"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Own:x", r"Own\(\) takes no arguments"),
        ("Folder", r"'folder'.*FILE\.py:NAME:VARIANT"),
        ("own:x", r"only the class of a suite takes the variant 'x'"),
    ],
)
def test_a_variant_that_does_not_fit_is_rejected(file: Path, name: str, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        suite_of(f"{file}:{name}")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Own", "the suite own has no tasks"),
        ("Folder:x", r"folder:x: tasks\(\) failed at .*own\.py:\d+: LookupError: no data"),
        ("Missing", r"not installed \(No module named 'a_package_that_is_missing'\): docs/how-to/bench\.md"),
    ],
)
def test_a_suite_whose_tasks_cannot_be_read_is_rejected(file: Path, name: str, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        chosen_tasks(suite_of(f"{file}:{name}"), "")
