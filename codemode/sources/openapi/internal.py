"""Operations that a document marks as internal, in the extensions of the usual tools."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from codemode.sources.loaded import SourceWarning

if TYPE_CHECKING:
    from collections.abc import Callable

    from codemode.sources.openapi.operations import Operation


def _is_true(value: Any) -> bool:
    return value is True


def _is_off(value: Any) -> bool:
    return value is False or (isinstance(value, Mapping) and value.get("enabled") is False)


def _is_disabled(value: Any) -> bool:
    return isinstance(value, Mapping) and value.get("disabled") is True


def _is_internal(value: Any) -> bool:
    return value in ("internal", "private")


#: Extensions of an operation or a path, each with a test of its value.
MARKS: dict[str, Callable[[Any], bool]] = {
    "x-internal": _is_true,  # Redocly, Stoplight, Spectral
    "x-hidden": _is_true,
    "x-scalar-ignore": _is_true,
    "x-fern-ignore": _is_true,
    "x-speakeasy-ignore": _is_true,
    "x-speakeasy-mcp": _is_disabled,
    "x-mcp": _is_off,
    "x-visibility": _is_internal,
}


def mark_of(operation: Operation) -> str:
    """Return the extension that marks an operation as internal, or "". Its own mark overrides that of its path."""
    for name, test in MARKS.items():
        declared = next((holder.get(name) for holder in (operation.node, operation.item) if name in holder.value), None)
        if test(declared):
            return name
    return ""


def left_out(marks: Mapping[str, str]) -> list[SourceWarning]:
    """Return the warning about operations that are left out. `marks` maps their keys to the extensions."""
    if not marks:
        return []
    names = ", ".join(dict.fromkeys(marks.values()))
    first = next(iter(marks))
    more = f" and {len(marks) - 1} more" if len(marks) > 1 else ""
    return [SourceWarning("", f"{first}{more} marked as internal ({names}): left out; `internal: true` keeps them")]
