"""Changes of the operator to documents of others: OpenAPI Overlays 1.0 and 1.1, and JSON Patch (RFC 6902).

An overlay is a mapping with `overlay` and `actions`, each with a JSONPath `target` (RFC 9535) and `update`, `copy` or
`remove`. A patch is a list of operations, each with `op` and a JSON pointer `path`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from copy import deepcopy
from typing import TYPE_CHECKING, Any

from codemode.errors import SourceError
from codemode.sources.documents.parse import parse_document
from codemode.sources.loaded import SourceWarning

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from jsonpath import JSONPathMatch

#: The keys of an action. Keys that begin with `x-` are extensions.
_ACTION = frozenset(("target", "description", "update", "copy", "remove"))


async def overlay_texts(files: Iterable[Path]) -> dict[str, str]:
    """Return the texts of overlay files by their paths. Raises SourceError."""
    return await asyncio.to_thread(lambda: {str(file): _text(file) for file in files})


def overlaid(document: Any, overlays: Mapping[str, str], warnings: list[SourceWarning]) -> Any:
    """Return a document with all overlays applied, in order.

    `overlays` maps files to their texts. A target that selects nothing is added to `warnings`. Raises SourceError for
    an invalid overlay, with its file and the number of the action.
    """
    if not overlays:
        return document
    document = deepcopy(document)
    for file, text in overlays.items():
        overlay = parse_document(text, location=file)
        if isinstance(overlay, list):
            document = _patched(document, overlay, file)
        elif isinstance(overlay, Mapping) and "actions" in overlay:
            document = _acted(document, overlay, file, warnings)
        else:
            raise SourceError("is neither an overlay (`overlay: 1.0.0` with `actions`) nor a JSON patch", location=file)
    return document


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        message = f"the overlay cannot be read: {getattr(error, 'strerror', None) or error}"
        raise SourceError(message, location=str(file)) from None


def _patched(document: Any, operations: Sequence[Any], file: str) -> Any:
    from jsonpath.exceptions import JSONPatchError, JSONPointerError
    from jsonpath.patch import apply

    for number, operation in enumerate(operations):
        try:
            document = apply([operation], document)
        except (JSONPatchError, JSONPointerError, TypeError, KeyError, AttributeError) as error:
            message = f"the operation cannot be applied: {error}"
            raise SourceError(message, location=file, pointer=f"/{number}") from None
    return document


def _acted(document: Any, overlay: Mapping[str, Any], file: str, warnings: list[SourceWarning]) -> Any:
    version, actions = str(overlay.get("overlay", "")), overlay["actions"]
    if not version.startswith("1.") or not isinstance(actions, list):
        raise SourceError("expected `overlay: 1.0.0` or 1.1.0, and a list of `actions`", location=file)
    for number, action in enumerate(actions):
        place = f"/actions/{number}"
        if not isinstance(action, Mapping) or not isinstance(action.get("target"), str):
            raise SourceError("expected a mapping with a `target`", location=file, pointer=place)
        unknown = [key for key in action if key not in _ACTION and not str(key).startswith("x-")]
        if unknown:
            message = f"unknown key {unknown[0]!r}; valid: {', '.join(sorted(_ACTION))}"
            raise SourceError(message, location=file, pointer=place)
        targets = _selected(action["target"], document, file, place)
        if not targets:
            warnings.append(
                SourceWarning(f"{file}{place}", f"{action['target']} selects nothing: the action has no effect")
            )
        document = _changed(document, action, targets, file, place)
    return document


def _selected(path: str, document: Any, file: str, place: str) -> list[JSONPathMatch]:
    from jsonpath import finditer
    from jsonpath.exceptions import JSONPathError

    try:
        return list(finditer(path, document))
    except (JSONPathError, TypeError) as error:
        message = f"{path!r} is not a JSONPath: {str(error).splitlines()[0]}"
        raise SourceError(message, location=file, pointer=place) from None


def _changed(document: Any, action: Mapping[str, Any], targets: list[JSONPathMatch], file: str, place: str) -> Any:
    if action.get("remove") is True:
        for match in reversed(targets):  # the last item of a list first
            _remove(document, match)
        return document
    update = action.get("update")
    if "copy" in action:
        sources = _selected(str(action["copy"]), document, file, place)
        if len(sources) != 1:
            message = f"`copy` must select one value, and {action['copy']} selects {len(sources)}"
            raise SourceError(message, location=file, pointer=place)
        update = sources[0].obj
    for match in targets if update is not None else ():
        document = _put(document, match, _merged(match.obj, deepcopy(update)))
    return document


def _merged(old: Any, new: Any) -> Any:
    """Merge an update: mappings by key, lists by appending, anything else by replacement."""
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        merged = {key: _merged(old[key], value) if key in old else value for key, value in new.items()}
        return {**old, **merged}
    if isinstance(old, list):
        return [*old, *(new if isinstance(new, list) else [new])]
    return new


def _put(document: Any, match: JSONPathMatch, value: Any) -> Any:
    if match.parent is None:
        return value
    holder = _at(document, match.parent.parts)
    holder[match.parts[-1]] = value
    return document


def _remove(document: Any, match: JSONPathMatch) -> None:
    if match.parent is not None:
        del _at(document, match.parent.parts)[match.parts[-1]]


def _at(document: Any, parts: Sequence[int | str]) -> Any:
    for part in parts:
        document = document[part]
    return document
