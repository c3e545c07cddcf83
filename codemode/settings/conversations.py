"""The `conversations` section."""

from __future__ import annotations

from pydantic import Field

from codemode.settings.section import Section

_DAY_S = 24 * 3600.0
_MIB = 1024**2


class ConversationSettings(Section):
    """What programs of one conversation may keep for each other. See `codemode.features.conversations`."""

    keep_s: float = Field(
        default=_DAY_S,
        gt=0,
        le=3650 * _DAY_S,
        description="Seconds for which a stored value is kept after it was stored. The default is one day.",
        examples=[3600],
    )
    value_bytes: int = Field(
        default=_MIB,
        ge=1024,
        description="Maximum size of one stored value as JSON, in bytes. The default is 1 MiB.",
        examples=[262_144],
    )
    bytes_per_key: int = Field(
        default=64 * _MIB,
        ge=1024,
        description="Maximum size of all stored values of one server key, in bytes. The default is 64 MiB.",
        examples=[16_777_216],
    )
