"""Secrets by reference: the configuration says where one is kept, never what it is."""

from __future__ import annotations

import os
from pathlib import Path

from pydantic import SecretStr, model_validator

from codemode.errors import ConfigurationError
from codemode.settings.section import Section


class SecretReference(Section):
    """Where a secret is kept: an environment variable or a file (its text, stripped)."""

    env: str | None = None
    file: Path | None = None

    @model_validator(mode="after")
    def _one_place(self) -> SecretReference:
        if (self.env is None) == (self.file is None):
            message = "give either env: NAME or file: PATH"
            raise ValueError(message)
        return self

    def resolve(self) -> SecretStr:
        """The secret. Raises ConfigurationError where it is not there or empty."""
        if self.env is not None:
            value = os.environ.get(self.env, "")
            where = f"the environment variable {self.env}"
        else:
            where = f"the file {self.file}"
            try:
                value = Path(self.file or "").expanduser().read_text(encoding="utf-8").strip()
            except OSError as error:
                message = f"a secret is read from {where}: {error.strerror}"
                raise ConfigurationError(message) from None
        if not value:
            message = f"a secret is read from {where}, which is empty or not set"
            raise ConfigurationError(message)
        return SecretStr(value)
