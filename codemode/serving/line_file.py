"""Files of lines that grow while a long run goes on, so that it can be continued."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from codemode.errors import ConfigurationError
from codemode.settings.file_lock import try_lock

if TYPE_CHECKING:
    from pathlib import Path


class LineFile:
    """Appends lines to a file, which is created if needed. A last line that an interruption cut off is removed.

    No other process can append until the file is closed. Raises ConfigurationError if another one does, or if the name
    is that of a compressed file, and OSError.
    """

    def __init__(self, path: Path) -> None:
        if path.suffix == ".xz":
            message = f"{path}: lines are written uncompressed: compress the file after the run"
            raise ConfigurationError(message)
        self._file = path.open("ab")
        try:
            try_lock(self._file.fileno())
            self._drop_unfinished_line(path)
        except BlockingIOError:
            self.close()
            message = f"{path}: another run writes to this file: name another one, or wait for its end"
            raise ConfigurationError(message) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def append(self, line: str) -> None:
        """Write a line of JSON at once. Lone surrogates, which weak models write, become JSON escapes."""
        self._file.write(f"{line}\n".encode(errors="backslashreplace"))
        self._file.flush()

    def close(self) -> None:
        """Close the file. Other processes may append from now on."""
        self._file.close()

    def _drop_unfinished_line(self, path: Path) -> None:
        content = path.read_bytes()
        self._file.truncate(content.rfind(b"\n") + 1)
