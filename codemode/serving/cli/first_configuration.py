"""The first `codemode.yaml`: finds API documents in a folder, and writes all other keys as comments."""

from __future__ import annotations

import os
import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml
from pydantic import BaseModel

from codemode.settings import Settings, is_set, is_url
from codemode.settings.file import GENERIC_NAMES
from codemode.settings.namespace import is_namespace
from codemode.settings.schema import SCHEMA_FILE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from codemode.sources.factory import LoadedSource
    from codemode.transports.auth.requirements import SecurityScheme

#: File names of API documents.
_DOCUMENT = re.compile(r"(open-?api|swagger|api-?docs)[^/]*\.(ya?ml|json)", re.IGNORECASE)

#: The version key near the beginning of a document of any name, and how many bytes are searched.
_VERSION = re.compile(rb"""(?:^|[{,])[ \t]*+["']?(?:openapi|swagger)["']?\s*:\s*["']?[23]\.""", re.MULTILINE)
_BEGINNING = 2048

#: The beginning of a document with sorted keys: its version key comes later, within so many bytes.
_SORTED = re.compile(rb"""(?:#[^\n]*\n|[\s{"'-])*(?:basePath|components|consumes|definitions|externalDocs|info)\b""")
_WHOLE = 64 * 1024 * 1024

#: Folders that are not searched.
_SKIPPED = {"node_modules", "__pycache__", "venv", "site-packages", "dist", "build", "test", "tests"}

#: Search depth below the folder, and maximum number of documents.
_DEPTH, _MOST = 3, 10

#: Words of titles that do not say which API it is, and how many of the others a name has.
_IN_EVERY_TITLE = GENERIC_NAMES | {"a", "an", "the", "rest", "http", "service", "server", "public", "for", "of", "and"}
_TITLE_WORDS = 3

_VARIABLE = re.compile(r"\{env: (\w+)\}")


def documents_below(folder: Path) -> list[Path]:
    """Return up to ten API documents, recognized by name or by their beginning, nearest first."""
    found: list[Path] = []
    for place, folders, files in os.walk(folder):
        path = Path(place)
        depth = len(path.relative_to(folder).parts)
        kept = (name for name in folders if name not in _SKIPPED and not name.startswith((".", "_")))
        folders[:] = sorted(kept) if depth < _DEPTH else []
        found += [path / name for name in sorted(files) if _DOCUMENT.fullmatch(name) or _begins_as_one(path / name)]
    return sorted(found, key=lambda file: (len(file.parts), str(file)))[:_MOST]


def has_own_name(location: str, folder: Path) -> bool:
    """Return whether a document's file, or its folder below the configuration's, is named for its API."""
    if is_url(location):
        return False
    file = Path(location).absolute()
    return file.stem.lower() not in GENERIC_NAMES or file.parent != folder


def name_of_title(title: str) -> str:
    """Return a namespace from the first words of a title that say which API it is, "" if none do."""
    words = [word for word in re.findall(r"[a-z][a-z0-9]*", title.lower()) if word not in _IN_EVERY_TITLE]
    name = "_".join(words[:_TITLE_WORDS])
    return name if is_namespace(name) else ""


def _begins_as_one(file: Path) -> bool:
    if file.suffix.lower() not in (".json", ".yaml", ".yml"):
        return False
    try:
        with file.open("rb") as content:
            beginning = content.read(_BEGINNING)
            looked_at = beginning + content.read(_WHOLE) if _SORTED.match(beginning) else beginning
            return _VERSION.search(looked_at) is not None
    except OSError:
        return False


def written(sources: Iterable[tuple[LoadedSource, str]], folder: Path) -> str:
    """Return the text of a configuration in `folder` for these sources, each with its location.

    The first line names the JSON Schema for editors. It is a file beside the configuration: see `codemode init`.
    """
    lines = [
        f"# yaml-language-server: $schema={SCHEMA_FILE.name}",
        "# `codemode config explain KEY` explains a key. docs/reference/configuration.md has all keys, and secrets.",
        "# `codemode doctor` reports what is still missing. `codemode trust` accepts what you change.",
        "sources:",
    ]
    for source, location in sources:
        lines += (f"  {line}".rstrip() for line in _source(source, location, folder))
    return "\n".join([*lines, "", *_defaults(), ""])


def _source(source: LoadedSource, location: str, folder: Path) -> Iterator[str]:
    title = " ".join(source.surface.title.split())
    yield f"{source.name}:  # {title}, {len(source.tools)} operations" if title else f"{source.name}:"
    yield f"  location: {_scalar(location if is_url(location) else _near(Path(location), folder))}"
    base = next((url for url in source.surface.servers if is_url(url) and "{" not in url), "")
    if base:
        yield f"  base_url: {_scalar(base)}"
    else:
        yield "  # the document names no server: set the base URL of its operations"
        yield "  # base_url: https://…"
    yield from _credentials(source)


def _credentials(source: LoadedSource) -> Iterator[str]:
    """Yield the credentials that most operations need, as comments if a variable is not set."""
    schemes = _most_asked(source)
    if not schemes:
        return
    lines = [scheme.configuration(source.name) for scheme in schemes]
    variables = {name for line in lines for name in _VARIABLE.findall(line)}
    missing = sorted(name for name in variables if not is_set(name))
    is_whole = not missing and not any("…" in line or "FILE" in line for line in lines)
    mark = "" if is_whole else "# "
    if missing:
        yield f"  # set {' and '.join(missing)} and uncomment:"
    if any(line.startswith("{") for line in lines):
        yield f"  {mark}credentials:"
    for line in lines:
        yield f"  {mark}  - {line}" if line.startswith("{") else f"  {mark}{line}"


def _most_asked(source: LoadedSource) -> tuple[SecurityScheme, ...]:
    alternatives: Counter[tuple[SecurityScheme, ...]] = Counter()
    for tool in source.tools:
        required = getattr(tool.invocation, "security", None)
        alternatives.update(required[:1] if required else ())
    return next((schemes for schemes, _ in alternatives.most_common() if schemes), ())


def _near(file: Path, folder: Path) -> str:
    path, base = file.expanduser().resolve(), folder.resolve()
    return str(path.relative_to(base)) if path.is_relative_to(base) else str(path)


def _scalar(text: str) -> str:
    """Return a text as a one-line YAML scalar."""
    return yaml.safe_dump(text, allow_unicode=True, width=1_000_000).removesuffix("...\n").strip()


def _defaults() -> Iterator[str]:
    """Yield every other section with its keys and defaults, as comments."""
    for name, field in Settings.model_fields.items():
        default = field.get_default(call_default_factory=True)
        if isinstance(default, BaseModel):
            yield ""
            yield f"# {(type(default).__doc__ or '').strip().splitlines()[0]}"
            yield f"# {name}:"
            yield from (f"#   {key}: {inline(value)}" for key, value in _plain(default).items())


def _plain(section: BaseModel) -> Mapping[str, Any]:
    values: dict[str, Any] = section.model_dump(mode="json")
    return values


def inline(value: Any) -> str:
    """Return a value as one line of YAML."""
    return (
        yaml.safe_dump(value, default_flow_style=True, width=1_000_000, sort_keys=False)
        .removesuffix("\n")
        .removesuffix("\n...")
    )
