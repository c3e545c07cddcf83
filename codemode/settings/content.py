"""The `content` section."""

from __future__ import annotations

from pydantic import Field

from codemode.settings.section import Section

_MIB = 1024**2


class ContentSettings(Section):
    """Images and files that tools return and callers upload. Programs receive references to them."""

    keep_s: float = Field(
        default=24 * 3600.0, gt=0, description="Seconds for which content is kept. The default is one day."
    )
    keep_bytes_per_key: int = Field(
        default=256 * _MIB,
        ge=1024,
        description="Maximum size of the content of one caller in the journal, in bytes. The oldest is removed first. "
        "The default is 256 MiB.",
    )
    upload_bytes: int = Field(
        default=16 * _MIB, ge=1024, description="Maximum size of an uploaded file, in bytes. The default is 16 MiB."
    )
    inline_bytes: int = Field(
        default=_MIB,
        ge=0,
        description="Maximum size of the images and files that one MCP answer includes, or that the agent's model is "
        "shown, in bytes. Others are references only. The default is 1 MiB.",
    )
