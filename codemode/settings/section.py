"""What every section of the configuration is: frozen, with no key that it does not know."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Section(BaseModel):
    """One mapping of `codemode.yaml`."""

    model_config = ConfigDict(extra="forbid", frozen=True)
