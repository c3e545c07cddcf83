"""References to secrets. The configuration holds the place of a secret and never its value."""

from __future__ import annotations

import importlib
import os
import signal
import subprocess
from threading import Lock
from typing import TYPE_CHECKING

from pydantic import ConfigDict, Field, SecretStr, model_validator

from codemode.errors import EnvironmentIncomplete
from codemode.settings.section import HomePath, Section

if TYPE_CHECKING:
    from pathlib import Path

#: Time limit of a command in seconds. A person may have to unlock a password manager.
COMMAND_S = 30.0

#: Maximum size of a secret. Longer output of a command is something else.
_LONGEST_BYTES = 64 * 1024


class KeyringEntry(Section):
    """An entry of the system's keyring."""

    service: str = Field(description="Service name of the entry.", examples=["tickets"])
    username: str = Field(description="User name of the entry.", examples=["robot"])


class SecretReference(Section):
    """A reference to a secret. It has exactly one key."""

    model_config = ConfigDict(json_schema_extra={"minProperties": 1, "maxProperties": 1})

    env: str | None = Field(
        default=None, description="Environment variable that holds the secret.", examples=["GYM_TOKEN"]
    )
    file: HomePath | None = Field(
        default=None,
        description="File that holds the secret. Surrounding whitespace is removed.",
        examples=["/run/secrets/token"],
    )
    keyring: KeyringEntry | None = Field(
        default=None,
        description="Entry of the system's keyring. It needs the extra `keyring`.",
        examples=[{"service": "tickets", "username": "robot"}],
    )
    command: tuple[str, ...] | None = Field(
        default=None,
        min_length=1,
        description="Program and arguments that print the secret within 30 seconds. No shell is used, and surrounding "
        "whitespace is removed.",
        examples=[["pass", "show", "mail/token"]],
    )

    @model_validator(mode="after")
    def _one_place(self) -> SecretReference:
        if len(self.model_fields_set & set(type(self).model_fields)) != 1 or self.where is None:
            message = f"expected exactly one of {', '.join(sorted(type(self).model_fields))}"
            raise ValueError(message)
        return self

    @property
    def where(self) -> str | None:
        """Place of the secret, for error messages."""
        if self.env is not None:
            return f"the environment variable {self.env}"
        if self.file is not None:
            return f"the file {self.file}"
        if self.keyring is not None:
            return f"the keyring entry {self.keyring.service!r} of {self.keyring.username!r}"
        return f"the command {self.command[0]}" if self.command is not None else None

    def resolve(self) -> SecretStr:
        """Return the secret. A command may take 30 seconds. Raises EnvironmentIncomplete if it is missing or empty."""
        if self.env is not None:
            value = os.environ.get(self.env, "")
        elif self.file is not None:
            value = _from_file(self.file)
        elif self.keyring is not None:
            value = _from_keyring(self.keyring)
        else:
            value = _from_command(self.command or ())
        if not value:
            message = f"cannot read a secret: {self.where} is empty or not set"
            raise EnvironmentIncomplete(message)
        return SecretStr(value)


class Secrets:
    """The secrets of one configuration. Each is read once, however many references it has."""

    def __init__(self) -> None:
        self._read: dict[SecretReference, SecretStr] = {}
        self._lock = Lock()

    def text(self, reference: SecretReference | None) -> str:
        """Return the secret, or "" without a reference. Raises EnvironmentIncomplete."""
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
        message = f"cannot read a secret from the file {file}: {reason}"
        raise EnvironmentIncomplete(message) from None


def _from_keyring(entry: KeyringEntry) -> str:
    try:
        keyring = importlib.import_module("keyring")
    except ModuleNotFoundError:
        message = (
            "cannot read a secret from the keyring: the package keyring is not installed: pip install codemode[keyring]"
        )
        raise EnvironmentIncomplete(message) from None
    try:
        found = keyring.get_password(entry.service, entry.username)
    except Exception as error:  # noqa: BLE001 -- backends raise any exception, and its text may contain secrets
        message = (
            f"cannot read a secret from the keyring entry {entry.service!r} of {entry.username!r}:"
            f" {type(error).__name__}"
        )
        raise EnvironmentIncomplete(message) from None
    return found if isinstance(found, str) else ""


def _from_command(command: tuple[str, ...]) -> str:
    where = f"cannot read a secret from the command {command[0]}"
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
            os.killpg(process.pid, signal.SIGKILL)  # it leads its own process group, so its children end too
            message = f"{where}: it did not end within {COMMAND_S:g} s"
            raise EnvironmentIncomplete(message) from None
    if process.returncode:
        message = f"{where}: it ended with exit code {process.returncode}; run it yourself to see why"
        raise EnvironmentIncomplete(message)
    try:
        text = output.decode("utf-8").strip()
    except UnicodeDecodeError:
        text = ""
    if len(output) > _LONGEST_BYTES or (output and not text):
        message = f"{where}: its output is not UTF-8, empty, or longer than {_LONGEST_BYTES:,} bytes"
        raise EnvironmentIncomplete(message)
    return text
