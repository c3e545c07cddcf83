"""Descriptions of tools and values: `help` and `inspect`. The host describes tools when it is asked."""

from __future__ import annotations

import inspect
import types
from typing import TYPE_CHECKING, Any

from sandbox.guest.language.access import getattr_
from sandbox.guest.language.own import is_own
from sandbox.guest.library.facades.builtin_names import seen_names
from sandbox.guest.library.tables import Table
from sandbox.guest.tools import Tool, tool_path

if TYPE_CHECKING:
    from collections.abc import Callable

    from sandbox.guest.tools import ToolCalls


def make_help(calls: ToolCalls, show: Callable[[str], None]) -> Callable[..., None]:
    """Return the `help` of a program. It prints the description of a tool, or the docstring of a value."""

    def help(value: Any = "", /) -> None:  # noqa: A001 - its name is what it is
        if isinstance(value, (Tool, str)):
            path = tool_path(value) if isinstance(value, Tool) else str.__str__(value)
            show(
                calls.description(path) or f"{path or 'tools'}(name=value) makes the call; the host knows what it takes"
            )
            return
        name = getattr_(value, "__name__", None) or type(value).__name__
        show("\n".join(filter(None, (f"{name}{_signature_text(value)}", inspect.getdoc(value)))))

    help.__qualname__ = "help"
    help.__module__ = "builtins"
    return help


def signature(obj: Any, **_: Any) -> inspect.Signature:
    """Return a signature. Annotations that are text stay text. Raise ValueError for tools."""
    if isinstance(obj, Tool):
        message = f"no signature found for {obj!r}: help({tool_path(obj)}) says what it takes"
        raise ValueError(message)
    return inspect.signature(obj)


def _signature_text(value: Any) -> str:
    try:
        return str(inspect.signature(value))
    except (TypeError, ValueError):
        return ""


def getmembers(value: Any, predicate: Any = None) -> list[tuple[str, Any]]:
    """Return names and values of the attributes that the program may read."""
    found = []
    for name in seen_names(value):
        item = getattr_(value, name, _MISSING)
        is_ours = isinstance(item, (types.FunctionType, types.MethodType)) and not is_own(item)
        if item is not _MISSING and not is_ours and (predicate is None or predicate(item)):
            found.append((name, item))
    return found


_MISSING: Any = object()


def getsource(value: Any) -> str:
    """Raise OSError, as if the file were gone."""
    raise OSError("could not get source code")


def get_annotations(value: Any, **_: Any) -> dict[str, Any]:
    """Return the annotations of a class or a function."""
    return dict(getattr_(value, "__annotations__", {}))


INSPECT: dict[str, Any] = {
    "get_annotations": get_annotations,
    "getmembers": getmembers,
    "getsource": getsource,
    "ismodule": lambda value: isinstance(value, Table),
    "signature": signature,
}
