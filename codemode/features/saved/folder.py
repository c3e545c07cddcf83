"""The folder of saved programs: one file for each, `NAME.py`."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from codemode.executions.types.saving_errors import SavedProgramInvalid, SavingRefused
from codemode.features.saved.file import is_name, parse
from codemode.text.nearest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable

    from codemode.catalog.saved import SavedProgram

#: Name, time of the last change in nanoseconds, and size of each file.
Stamp = frozenset[tuple[str, int, int]]


class SavedFolder:
    """Reads and writes the files of one folder. The folder need not exist."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def stamp(self) -> Stamp:
        """Return what differs after a change of the files."""
        states = ((file.name, file.stat()) for file in self._files())
        try:
            return frozenset((name, state.st_mtime_ns, state.st_size) for name, state in states)
        except OSError:  # a file was removed meanwhile
            return frozenset({("", 0, 0)})

    def read(self) -> tuple[dict[str, SavedProgram], dict[str, str]]:
        """Return the programs by name, and what is wrong with the other files."""
        programs: dict[str, SavedProgram] = {}
        problems: dict[str, str] = {}
        for file in self._files():
            try:
                programs[file.stem] = parse(file.stem, file.read_text(encoding="utf-8"))
            except SavedProgramInvalid as error:
                problems[file.stem] = str(error)
            except (OSError, UnicodeDecodeError) as error:
                reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
                problems[file.stem] = f"{file.name}: {reason}"
        return programs, problems

    def write(self, program: SavedProgram) -> str:
        """Write the file of a program at once, so that readers see the old file or the new one. Return its path.

        Raises SavingRefused.
        """
        file = self.path / f"{program.name}.py"
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile("w", dir=self.path, delete=False, encoding="utf-8") as new:
                new.write(program.code)
            Path(new.name).chmod(0o644)
            Path(new.name).replace(file)
        except OSError as error:
            message = f"cannot write {file}: {error.strerror}"
            raise SavingRefused(message) from None
        return str(file)

    def remove(self, name: str, known: Iterable[str]) -> None:
        """Remove the file of a program. Raises SavingRefused if there is none."""
        try:
            if not is_name(name):  # it could lead out of the folder
                raise FileNotFoundError
            (self.path / f"{name}.py").unlink()
        except OSError as error:
            message = f"there is no saved program {name!r}{did_you_mean(name, list(known))}"
            if not isinstance(error, FileNotFoundError):
                message = f"cannot remove {name}.py: {error.strerror}"
            raise SavingRefused(message) from None

    def _files(self) -> list[Path]:
        return sorted(self.path.glob("*.py"))
