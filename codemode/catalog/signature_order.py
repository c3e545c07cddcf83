"""The order of a call's arguments for readers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from codemode.catalog.tool import Tool


def in_signature_order(tool: Tool, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments as the signature lists them: the required ones first. Unknown names come last."""
    places: dict[str, int] = {}
    for place, parameter in enumerate(sorted(tool.parameters, key=lambda one: not one.required)):
        places[parameter.name] = place
        places.setdefault(parameter.wire_name, place)
    return dict(sorted(arguments.items(), key=lambda one: places.get(one[0], len(places))))
