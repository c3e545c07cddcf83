"""Secrets from wherever they are kept; errors say where, never what."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from pydantic import ValidationError

from codemode.errors import ConfigurationError
from codemode.settings import CallerReference, SecretReference, Secrets
from codemode.settings import secrets as module


def _python(code: str) -> tuple[str, ...]:
    return (sys.executable, "-c", code)


def test_a_command_prints_a_secret() -> None:
    reference = SecretReference(command=_python("print('hunter2')"))
    assert reference.resolve().get_secret_value() == "hunter2"


def test_a_command_is_run_without_a_shell_and_without_input(tmp_path: Path) -> None:
    code = "import sys; print(sys.argv[1], repr(sys.stdin.read()))"
    reference = SecretReference(command=(*_python(code), f"$(touch {tmp_path}/made); `id`"))
    assert reference.resolve().get_secret_value() == f"$(touch {tmp_path}/made); `id` ''"
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("import sys; sys.stderr.write('hunter2'); sys.exit(3)", "exit code 3; run it yourself to see why"),
        ("print('hunter2'); raise SystemExit(1)", "exit code 1"),
        ("", "is empty or not set"),
        ("print('hunter2' * 20_000)", "its output is not UTF-8, empty, or longer than 65,536 bytes"),
        (r"import os; os.write(1, b'hunter2\xff')", "its output is not UTF-8"),
    ],
)
def test_a_command_that_gives_none_is_named_without_its_output(
    code: str, said: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(ConfigurationError, match=said) as caught:
        SecretReference(command=_python(code)).resolve()
    assert f"the command {sys.executable}" in str(caught.value)
    assert "hunter2" not in repr(caught.value) + "".join(capfd.readouterr())


def test_a_command_that_is_not_there_is_named() -> None:
    with pytest.raises(ConfigurationError, match="the command no-such-command: No such file or directory"):
        SecretReference(command=("no-such-command",)).resolve()


def test_a_command_that_does_not_end_is_ended_with_all_it_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "COMMAND_S", 5.0)
    started = tmp_path / "pid"
    with pytest.raises(ConfigurationError, match="it did not end within 5 s"):
        SecretReference(command=("sh", "-c", f"sleep 600 & echo $! > {started}; wait")).resolve()
    state = Path(f"/proc/{started.read_text().strip()}/stat")
    while state.exists() and state.read_text().split()[2] != "Z":  # a killed process ends when its turn comes
        time.sleep(0.01)


def _keyring(monkeypatch: pytest.MonkeyPatch, get_password: Any) -> None:
    keyring = ModuleType("keyring")
    keyring.get_password = get_password  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "keyring", keyring)


def test_a_secret_of_the_keyring(monkeypatch: pytest.MonkeyPatch) -> None:
    _keyring(monkeypatch, lambda *name: {("github", "ann"): "hunter2"}.get(name))
    entry = {"service": "github", "username": "ann"}
    assert SecretReference.model_validate({"keyring": entry}).resolve().get_secret_value() == "hunter2"
    with pytest.raises(ConfigurationError, match="the keyring entry 'github' of 'bob' is empty or not set"):
        SecretReference.model_validate({"keyring": {**entry, "username": "bob"}}).resolve()


def test_a_keyring_that_fails_is_named_without_what_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    def locked(*_: str) -> str:
        raise PermissionError("hunter2")

    _keyring(monkeypatch, locked)
    with pytest.raises(ConfigurationError, match="the keyring entry 'a' of 'b': PermissionError") as caught:
        SecretReference.model_validate({"keyring": {"service": "a", "username": "b"}}).resolve()
    assert "hunter2" not in str(caught.value)


def test_without_the_package_its_absence_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)
    with pytest.raises(
        ConfigurationError, match=r"the package keyring is not installed: pip install codemode\[keyring\]"
    ):
        SecretReference.model_validate({"keyring": {"service": "a", "username": "b"}}).resolve()


def test_a_secret_is_read_once_for_one_load(tmp_path: Path) -> None:
    count = tmp_path / "count"
    reference = SecretReference(command=_python(f"open({str(count)!r}, 'a').write('x'); print('hunter2')"))
    secrets = Secrets()
    same = SecretReference(command=reference.command)
    assert [secrets.text(one) for one in (reference, same, reference, None)] == ["hunter2"] * 3 + [""]
    assert count.read_text() == "x"


@pytest.mark.parametrize(
    "reference",
    [{}, {"env": "A", "file": "b"}, {"command": []}, {"keyring": {"service": "a"}}, {"env": None}, {"caller": "X-A"}],
)
def test_a_reference_names_one_place(reference: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        SecretReference.model_validate(reference)


@pytest.mark.parametrize("name", ["Authorization", "cookie", "HOST", "", "a b", "x:y"])
def test_what_a_caller_brings_has_a_name_of_its_own(name: str) -> None:
    with pytest.raises(ValidationError):
        CallerReference(caller=name)


def test_a_secret_of_the_caller_is_nowhere_else() -> None:
    with pytest.raises(ConfigurationError, match="each caller sends the secret X-Upstream-Token; it is not stored"):
        CallerReference(caller="X-Upstream-Token").resolve()


def test_a_file_that_is_no_text_is_named(tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigurationError, match="it is not UTF-8 text"):
        SecretReference(file=tmp_path / "secret").resolve()
