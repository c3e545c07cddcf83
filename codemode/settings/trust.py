"""Trust in configuration files that were found in a folder and named by nobody.

Whoever writes `codemode.yaml` decides which programs and Python code run here, and which secrets are sent where. So a
file that a command finds in the working directory does nothing of that before a person has read the list and said yes.
The user's state directory records the path and digest. A file that is named (`--config`, Python code) is trusted.
"""

from __future__ import annotations

import json
import shlex
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from codemode.errors import ConfigurationError
from codemode.settings.credentials import CallerReference
from codemode.settings.file_lock import locked
from codemode.settings.folders import user_state
from codemode.settings.references import references
from codemode.settings.secrets import SecretReference
from codemode.settings.sections import SandboxSettings
from codemode.settings.sources import KINDS, PYTHON, SourceSettings, is_python
from codemode.settings.urls import is_url
from codemode.text.visible import visible_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from codemode.settings.sections import Settings

#: The record in the user's state directory: digests by absolute path.
_RECORD = "trusted.json"

#: Files above this size are not part of a configuration, so the digest has their size only.
_LARGEST_BYTES = 4_000_000

#: Secrets that only identify callers of this server. They are compared, and sent nowhere.
_COMPARED = ("server.",)


class ConfigurationUntrusted(ConfigurationError):
    """The configuration was found in a folder, and nobody has trusted it. `powers` says what it would do."""

    code = "configuration_untrusted"

    def __init__(self, file: Path, digest: str, powers: tuple[str, ...]) -> None:
        self.file = file
        self.digest = digest
        self.powers = powers
        super().__init__(
            f"{self.question}\nRun `codemode trust` in this folder if you know who wrote the file, or name it: "
            f"--config {shlex.quote(file.name)}"
        )

    @property
    def question(self) -> str:
        """What the file would do, one line each."""
        would = "".join(f"\n  - {power}" for power in self.powers)
        return f"{self.file} is not trusted yet, so nothing in it was run, read or sent. It would:{would}"


def is_outside(path: str | Path, folder: Path) -> bool:
    """Return whether a path leads out of a folder, by itself or by links."""
    return not (folder / Path(path).expanduser()).resolve().is_relative_to(folder.resolve())


def require_trust(file: Path, text: str, settings: Settings, menu: str = "") -> None:
    """Raise ConfigurationUntrusted if a file has powers, and is not trusted as it is.

    `menu` is the name of the file that holds the menu, if the key `menu` names one.
    """
    powers = tuple(dict.fromkeys(_powers(settings, file.absolute().parent, menu)))
    if not powers:
        return
    digest = _digest(file, text, (*map(str, settings.mcp_servers), *filter(None, (menu,))))
    if _record().get(str(file.resolve())) != digest:
        raise ConfigurationUntrusted(file, digest, powers)


def trust(file: Path, digest: str) -> None:
    """Record that a file is trusted as long as it has this digest. Raises ConfigurationError."""
    _change({str(file.resolve()): digest})


def distrust(file: Path) -> bool:
    """Forget a trusted file. Return whether it was trusted. Raises ConfigurationError."""
    path = str(file.resolve())
    was_trusted = path in _record()
    if was_trusted:
        _change({path: None})
    return was_trusted


def _powers(settings: Settings, folder: Path, menu: str) -> Iterator[str]:
    """Yield what a configuration can do to the machine and its secrets, the most dangerous first."""
    for name, source in settings.sources.items():
        yield from _code(name, source)
    for path in settings.mcp_servers:
        yield f"start the servers, and read the variables, that {_shown(path)} names (mcp_servers)"
    for number, plugin in enumerate(settings.plugins):
        yield f"run the plugin {_shown(plugin.name)} (plugins.{number})"
    for number, reviewer in enumerate(settings.reviewers):
        if reviewer.function:
            yield f"run Python code: {_shown(reviewer.function)} (reviewers.{number})"
    yield from _secrets(settings)
    for place, path in (*_paths(settings), *((("menu", menu),) if menu else ())):
        if is_outside(path, folder):
            yield f"use a path outside of its folder: {_shown(path)} ({place})"
    left_out = set(SandboxSettings().require) - set(settings.sandbox.require)
    if left_out:
        yield f"run programs without the isolation layers {', '.join(sorted(left_out))} (sandbox.require)"
    for place, url in _urls(settings):
        key = " and, without agent.api_key, OPENAI_API_KEY" if place == "agent.base_url" else ""
        yield f"send data{key} to {_shown(url)} ({place})"


def _code(name: str, source: SourceSettings) -> Iterator[str]:
    if source.command:
        yield f"start the program {_shown(shlex.join(source.command))} (sources.{name})"
    codes = [*source.bind.values()] if isinstance(source.bind, dict) else [source.bind]
    codes += [source.location] if source.own_kind == "python" or is_python(source.location) else []
    for code in filter(None, codes):
        yield f"run Python code: {_shown(code)} (sources.{name})"
    if source.kind not in KINDS:
        yield f"run the installed source kind {_shown(source.kind)} (sources.{name})"
    if source.own_kind == "aws":
        yield f"use the AWS credentials of this machine (sources.{name})"


def _secrets(settings: Settings) -> Iterator[str]:
    for place, reference in references(settings):
        if reference.command is not None:
            yield f"start the program {_shown(shlex.join(reference.command))} ({place})"
        elif not (isinstance(reference, CallerReference) and reference.caller) and not place.startswith(_COMPARED):
            yield f"read {_shown(reference.where)}{_receivers(settings, place)} ({place})"


def _receivers(settings: Settings, place: str) -> str:
    """Return where the secret of a source may go."""
    parts = place.split(".")
    source = settings.sources.get(parts[1]) if parts[0] == "sources" else None
    urls = dict.fromkeys(text for _, text in _members(source, "") if isinstance(text, str) and is_url(text))
    return f" for {', '.join(_shown(url) for url in urls)}" if urls else ""


def _paths(settings: Settings) -> Iterator[tuple[str, str | Path]]:
    for place, value in _members(settings, ""):
        if isinstance(value, Path):
            yield place, value
    for name, source in settings.sources.items():
        for code in (source.location, *(source.bind.values() if isinstance(source.bind, dict) else (source.bind,))):
            if code and not is_url(code) and not code.startswith(PYTHON) and source.kind in KINDS:
                yield f"sources.{name}", code


def _urls(settings: Settings) -> Iterator[tuple[str, str]]:
    """Yield addresses other than those of sources, such as of model services and receivers of notifications."""
    for place, value in _members(settings, ""):
        if isinstance(value, str) and is_url(value) and not place.startswith(("sources.", "server.", "console.")):
            yield place, value


def _members(value: Any, place: str) -> Iterator[tuple[str, Any]]:
    """Yield each value that the file sets, with its dotted key. Secrets are left out."""
    if isinstance(value, SecretReference):
        return
    if isinstance(value, BaseModel):
        for name in type(value).model_fields:
            if name in value.model_fields_set:
                yield from _members(getattr(value, name), f"{place}.{name}".lstrip("."))
    elif isinstance(value, dict):
        for name, member in value.items():
            yield from _members(member, f"{place}.{name}")
    elif isinstance(value, list | tuple):
        for number, member in enumerate(value):
            yield from _members(member, f"{place}.{number}")
    else:
        yield place, value


def _shown(value: object) -> str:
    return visible_text(str(value), 500)


def _digest(file: Path, text: str, included: tuple[str, ...]) -> str:
    """Return the digest of a configuration and of the configuration files that it includes."""
    digest = sha256(text.encode("utf-8", "surrogatepass"))
    for name in included:
        path = file.parent / Path(name).expanduser()
        size = path.stat().st_size if path.is_file() else -1
        content = path.read_bytes() if 0 <= size <= _LARGEST_BYTES else str(size).encode()
        digest.update(f"\0{len(content)}\0".encode() + content)
    return digest.hexdigest()


def _record() -> dict[str, str]:
    try:
        record = json.loads((user_state() / _RECORD).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return record if isinstance(record, dict) else {}


def _change(entries: Mapping[str, str | None]) -> None:
    path = user_state() / _RECORD
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with locked(path):
            record = {name: digest for name, digest in {**_record(), **entries}.items() if digest is not None}
            new = path.with_suffix(".new")
            new.write_text(json.dumps(record, indent=1), encoding="utf-8")
            new.chmod(0o600)
            new.replace(path)
    except OSError as error:
        message = f"cannot write {path}: {error.strerror}"
        raise ConfigurationError(message) from None
