"""The `saved` section."""

from __future__ import annotations

from pydantic import Field

from codemode.settings.policy import Names
from codemode.settings.section import HomePath, Section


class SavedSettings(Section):
    """Saved programs: good programs that became tools of the namespace `saved`."""

    folder: HomePath | None = Field(
        default=None,
        description="Folder of saved programs, one file for each, relative to the configuration file. With "
        "`journal.url`, programs are saved there for all servers, and the folder has further ones. Without both, "
        "programs cannot be saved.",
        examples=["programs"],
    )
    roles: Names = Field(
        default=(),
        description="Roles that may save and remove programs over HTTP. On this machine, the command line always may.",
        examples=[["author"]],
    )
