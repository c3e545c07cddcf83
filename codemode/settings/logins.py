"""The `logins` section: how logins at services are sealed at rest."""

from __future__ import annotations

from pydantic import Field

from codemode.settings.secrets import SecretReference
from codemode.settings.section import Section


class LoginSettings(Section):
    """The keys of the seal. They seal the tokens of operators and of callers."""

    key: SecretReference = Field(
        description="Secret of at least 32 characters that seals logins.", examples=[{"env": "LOGIN_KEY"}]
    )
    old_keys: tuple[SecretReference, ...] = Field(
        default=(),
        description="Earlier secrets. Logins sealed with them are read, and sealed with `key` when they are renewed.",
        examples=[[{"env": "OLD_LOGIN_KEY"}]],
    )
