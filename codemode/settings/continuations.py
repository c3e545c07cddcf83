"""The `continuations` section: paused executions that their callers keep, without a journal."""

from __future__ import annotations

from pydantic import Field

from codemode.settings.secrets import SecretReference
from codemode.settings.section import Section

_DAY_S = 24 * 3600.0


class ContinuationSettings(Section):
    """Sealed continuations, for one process or a serverless host. They take the place of the journal."""

    key: SecretReference = Field(
        description="Secret of at least 32 characters that seals continuations.", examples=[{"env": "CONTINUATION_KEY"}]
    )
    old_keys: tuple[SecretReference, ...] = Field(
        default=(),
        description="Earlier secrets. Continuations sealed with them are accepted until they expire.",
        examples=[[{"env": "OLD_CONTINUATION_KEY"}]],
    )
    expires_s: float = Field(
        default=_DAY_S, gt=0, le=30 * _DAY_S, description="Seconds after which a continuation is rejected."
    )
    limit_bytes: int = Field(
        default=256 * 1024,
        ge=4096,
        le=64 * 1024 * 1024,
        description="Maximum size of a continuation, in bytes. It holds the program, its calls and their answers. The "
        "default is 256 KiB.",
    )
