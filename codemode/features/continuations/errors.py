"""Errors of continuations."""

from __future__ import annotations

from codemode.errors import ExecutionError


class ContinuationInvalid(ExecutionError):
    """A continuation is not accepted: damaged, of another project or key, expired, used, or of another version."""

    code = "continuation_invalid"
