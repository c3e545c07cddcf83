"""Secrets from the files of other clients, moved to the system's keyring, or to files that only their owner reads."""

from __future__ import annotations

import importlib
import os
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from codemode.errors import ConfigurationError

if TYPE_CHECKING:
    from pathlib import Path

#: The service of the entries in the keyring.
SERVICE = "codemode"


@dataclass
class MovedSecrets:
    """Stores secrets, and returns the references that a configuration has to them. `folder` has the files."""

    folder: Path
    places: set[str] = field(default_factory=set)

    def reference(self, name: str, value: str) -> dict[str, Any]:
        """Store a secret under a name, and return the reference to it. Raises ConfigurationError."""
        if _in_keyring(name, value):
            self.places.add("the system's keyring")
            return {"keyring": {"service": SERVICE, "username": name}}
        file = self.folder / re.sub(r"[^\w.-]", "_", name)
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            file.unlink(missing_ok=True)
            with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as opened:
                opened.write(value)
        except OSError as error:
            message = f"cannot write the secret {file}: {error.strerror}"
            raise ConfigurationError(message) from None
        self.places.add(str(self.folder))
        return {"file": str(file)}


def _in_keyring(name: str, value: str) -> bool:
    """Store a secret in the system's keyring. Return False if there is none that keeps it."""
    try:
        keyring = importlib.import_module("keyring")
        keyring.set_password(SERVICE, name, value)
        return bool(keyring.get_password(SERVICE, name) == value)
    except Exception:  # noqa: BLE001 -- backends raise any exception
        return False
