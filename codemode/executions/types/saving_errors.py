"""Errors of saved programs."""

from __future__ import annotations

from codemode.errors import CallError, CodeModeError


class SavingRefused(CodeModeError):
    """A program cannot be saved, changed or removed. The message says why; nothing was written."""

    code = "saving_refused"


class SavingForbidden(SavingRefused):
    """The role of the caller may not save programs."""

    code = "saving_forbidden"


class SavedProgramInvalid(CodeModeError):
    """The file of a saved program cannot be read. The message names the file and what is wrong."""

    code = "saved_program_invalid"


class SavedProgramBroken(CallError):
    """A saved program needs tools or arguments that no longer exist. Nothing was sent."""

    code = "saved_program_broken"


class SavedProgramFailed(CallError):
    """A saved program did not complete. Its calls are in the ledger below its own."""

    code = "saved_program_failed"
