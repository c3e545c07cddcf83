"""The saved programs that servers share: one value of the project's store, beside the files of a server's folder."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from codemode.executions.types.saving_errors import SavedProgramInvalid, SavingRefused
from codemode.features.saved.file import parse
from codemode.text.nearest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from codemode.catalog.saved import SavedProgram
    from codemode.features.saved.folder import SavedFolder, Stamp
    from codemode.shared.values import SharedValue

#: Largest size of all programs together, in bytes. Each change writes them all.
MOST_BYTES = 4 * 1024 * 1024


class SharedStamp(NamedTuple):
    """What differs after a change of the programs."""

    version: Hashable
    folder: Stamp | None


class SharedPrograms:
    """Reads and writes the programs in `value`, by name with the text of a file each.

    The files of `folder` are programs of this server, which came with its configuration. A program of the store wins
    over a file of its name. All methods wait for the store, but `stamp` after the first call; they raise what
    `SharedValue` raises.
    """

    def __init__(self, value: SharedValue, folder: SavedFolder | None) -> None:
        self._value = value
        self._folder = folder

    def stamp(self) -> SharedStamp:
        """Return what differs after a change of the store or of the files."""
        return SharedStamp(self._value.latest().version, self._folder.stamp() if self._folder else None)

    def read(self) -> tuple[dict[str, SavedProgram], dict[str, str]]:
        """Return the programs by name, and what is wrong with the others."""
        programs, problems = self._folder.read() if self._folder else ({}, {})
        for name, text in _texts(self._value.latest().data).items():
            if name in programs and programs[name].code != text:
                problems[name] = f"{name}.py is not used: {self._value.title} have a program of this name"
            try:
                programs[name] = parse(name, text)
            except SavedProgramInvalid as error:
                programs.pop(name, None)
                problems[name] = str(error)
        return programs, problems

    def write(self, program: SavedProgram) -> str:
        """Store a program for all servers. Return where it is.

        Raises SavingRefused if another server has saved that version meanwhile, or if there is no room.
        """

        def changed(data: bytes | None) -> bytes:
            texts = _texts(data)
            if program.name in texts and parse(program.name, texts[program.name]).version >= program.version:
                message = f"another server has just saved {program.id} version {program.version}: save it again"
                raise SavingRefused(message)
            stored = json.dumps({**texts, program.name: program.code}).encode()
            if len(stored) > MOST_BYTES:
                message = f"there is no room for {program.id}: saved programs may take {MOST_BYTES:,} bytes together"
                raise SavingRefused(message)
            return stored

        self._value.change(changed)
        return self._value.title

    def remove(self, name: str, known: Iterable[str]) -> None:
        """Remove a program from the store. Raises SavingRefused if there is none."""

        def changed(data: bytes | None) -> bytes:
            texts = _texts(data)
            if name not in texts:
                message = f"there is no saved program {name!r}{did_you_mean(name, list(known))}"
                if name in known:
                    message = f"{name}.py is a file of this server's configuration: remove the file on each server"
                raise SavingRefused(message)
            del texts[name]
            return json.dumps(texts).encode()

        self._value.change(changed)


def _texts(data: bytes | None) -> dict[str, str]:
    return json.loads(data) if data else {}
