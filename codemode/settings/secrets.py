"""Secrets by reference: the configuration says where one is kept, never what it is."""

from __future__ import annotations

import importlib
import os
import signal
import subprocess
from threading import Lock
from typing import TYPE_CHECKING

from pydantic import Field, SecretStr, model_validator

from codemode.errors import EnvironmentIncomplete
from codemode.settings.section import HomePath, Section

if TYPE_CHECKING:
    from pathlib import Path

#: Seconds that a command may take: time for a person to unlock a password manager.
COMMAND_S = 30.0

#: No secret is longer; a command that prints more prints something else.
_LONGEST_BYTES = 64 * 1024


class KeyringEntry(Section):
    """An entry of the system's keyring, by the names under which it was put there."""

    service: str
    username: str


class SecretReference(Section):
    """Where a secret is kept: one of an environment variable, a file, the system's keyring, and a command's output.

    What a file holds or a command prints is taken without spaces and line ends around it. A command is run without a
    shell; what it says on standard error is not looked at.
    """

    env: str | None = None
    file: HomePath | None = None
    keyring: KeyringEntry | None = None
    command: tuple[str, ...] | None = Field(default=None, min_length=1)

    @model_validator(mode="after")
    def _one_place(self) -> SecretReference:
        if len(self.model_fields_set & set(type(self).model_fields)) != 1 or self.where is None:
            message = f"give one of {', '.join(sorted(type(self).model_fields))}"
            raise ValueError(message)
        return self

    @property
    def where(self) -> str | None:
        """Where the secret is looked for, as an error says it."""
        if self.env is not None:
            return f"the environment variable {self.env}"
        if self.file is not None:
            return f"the file {self.file}"
        if self.keyring is not None:
            return f"the keyring entry {self.keyring.service!r} of {self.keyring.username!r}"
        return f"the command {self.command[0]}" if self.command is not None else None

    def resolve(self) -> SecretStr:
        """The secret; it may take as long as the command. Raises EnvironmentIncomplete where it is absent or empty."""
        if self.env is not None:
            value = os.environ.get(self.env, "")
        elif self.file is not None:
            value = _from_file(self.file)
        elif self.keyring is not None:
            value = _from_keyring(self.keyring)
        else:
            value = _from_command(self.command or ())
        if not value:
            message = f"a secret is read from {self.where}, which is empty or not set"
            raise EnvironmentIncomplete(message)
        return SecretStr(value)


class Secrets:
    """The secrets of one load of the configuration: each is read once, however often it is named."""

    def __init__(self) -> None:
        self._read: dict[SecretReference, SecretStr] = {}
        self._lock = Lock()

    def text(self, reference: SecretReference | None) -> str:
        """The secret, or an empty text where none is named. Raises EnvironmentIncomplete."""
        if reference is None:
            return ""
        with self._lock:
            if reference not in self._read:
                self._read[reference] = reference.resolve()
            return self._read[reference].get_secret_value()


def _from_file(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        message = f"a secret is read from the file {file}: {reason}"
        raise EnvironmentIncomplete(message) from None


def _from_keyring(entry: KeyringEntry) -> str:
    try:
        keyring = importlib.import_module("keyring")
    except ModuleNotFoundError:
        message = (
            "a secret is read from the keyring, for which the package keyring is missing: pip install codemode[keyring]"
        )
        raise EnvironmentIncomplete(message) from None
    try:
        found = keyring.get_password(entry.service, entry.username)
    except Exception as error:  # noqa: BLE001 -- backends raise what they like, and their texts may hold anything
        message = (
            f"a secret is read from the keyring entry {entry.service!r} of {entry.username!r}: {type(error).__name__}"
        )
        raise EnvironmentIncomplete(message) from None
    return found if isinstance(found, str) else ""


def _from_command(command: tuple[str, ...]) -> str:
    where = f"a secret is read from the command {command[0]}"
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        message = f"{where}: {error.strerror}"
        raise EnvironmentIncomplete(message) from None
    with process:
        try:
            output, _ = process.communicate(timeout=COMMAND_S)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)  # it leads a group of its own: what it started ends too
            message = f"{where}, which did not end within {COMMAND_S:g} s"
            raise EnvironmentIncomplete(message) from None
    if process.returncode:
        message = f"{where}, which ended with exit code {process.returncode}: run it yourself to see why"
        raise EnvironmentIncomplete(message)
    try:
        text = output.decode("utf-8").strip()
    except UnicodeDecodeError:
        text = ""
    if len(output) > _LONGEST_BYTES or (output and not text):
        message = f"{where}, which printed no secret: not UTF-8, or longer than {_LONGEST_BYTES:,} bytes"
        raise EnvironmentIncomplete(message)
    return text
