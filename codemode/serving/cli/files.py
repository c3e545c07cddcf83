"""Files as content, and inputs of programs as options of a command: `--file photo=a.png --input number=3`."""

from __future__ import annotations

import json
import mimetypes
from pathlib import Path
from typing import TYPE_CHECKING, Any

from codemode.catalog.content import references_in
from codemode.errors import ConfigurationError
from codemode.transports.content import ANY_BYTES, Content

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codemode.executions.types.outcome import ExecutionOutcome
    from codemode.service import CodeMode


def content_of(file: Path) -> Content:
    """Return a file with the media type of its name. Raises ConfigurationError."""
    try:
        data = file.read_bytes()
    except OSError as error:
        message = f"cannot read the file {file}: {error.strerror}"
        raise ConfigurationError(message) from None
    return Content(data, mimetypes.guess_type(file.name)[0] or ANY_BYTES, file.name).checked()


def write_file(file: Path, data: bytes) -> None:
    """Write a file. Raises ConfigurationError."""
    try:
        file.write_bytes(data)
    except OSError as error:
        message = f"cannot write the file {file}: {error.strerror}"
        raise ConfigurationError(message) from None


async def inputs_of(service: CodeMode, values: Sequence[str], files: Sequence[str]) -> dict[str, Any]:
    """Return the inputs that `NAME=VALUE` and `NAME=PATH` words give. Files are stored, and become references.

    A value is JSON where it is JSON, else text. Raises ConfigurationError.
    """
    inputs: dict[str, Any] = {}
    for word in values:
        name, text = _named("--input", word, "VALUE", inputs)
        inputs[name] = _value(text)
    for word in files:
        name, path = _named("--file", word, "PATH", inputs)
        content = content_of(Path(path))
        inputs[name] = await service.keep_content(content.data, content.media_type, content.name)
    return inputs


def where_files_are(ended: ExecutionOutcome) -> list[str]:
    """Return one line for each image or file in a result: how to read it."""
    if not ended.has_value:
        return []
    references = {str(one["$content"]): one for one in references_in(ended.value)}
    return [
        f"{one.get('name') or one.get('media_type', 'file')}: codemode content get {id_} -o FILE"
        for id_, one in references.items()
    ]


def _named(option: str, word: str, what: str, earlier: dict[str, Any]) -> tuple[str, str]:
    name, is_given, text = word.partition("=")
    if not is_given or not name.isidentifier():
        message = f"{option} {word!r} is not NAME={what}, with the name of a variable"
        raise ConfigurationError(message)
    if name in earlier:
        message = f"{option} {word!r}: the input {name!r} is given twice"
        raise ConfigurationError(message)
    return name, text


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text
