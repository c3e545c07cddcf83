"""A local file of usage records, one JSON object a line."""

from __future__ import annotations

import contextlib
import json
import os
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

LARGEST_BYTES = 1024 * 1024  # a larger file loses its older half


class UsageFile:
    """Appends records to a file with mode 0600 of bounded size."""

    def __init__(self, path: Path, *, largest_bytes: int = LARGEST_BYTES) -> None:
        self._path = path
        self._largest_bytes = largest_bytes

    def append(self, **record: Any) -> None:
        """Write a record. If that fails, it is dropped: usage must not fail the call that it is about."""
        line = json.dumps(record, ensure_ascii=False) + "\n"
        with contextlib.suppress(OSError):
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            with os.fdopen(descriptor, "ab") as file:
                file.write(line.encode("utf-8", "replace"))
                is_full = file.tell() > self._largest_bytes
            if is_full:
                self._drop_older_half()

    def lines(self) -> list[bytes]:
        """Return the lines, oldest first; none if the file cannot be read."""
        try:
            return self._path.read_bytes().splitlines()
        except OSError:
            return []

    def _drop_older_half(self) -> None:
        lines = self._path.read_bytes().splitlines(keepends=True)
        beside = self._path.with_name(self._path.name + ".new")
        beside.touch(mode=0o600)
        beside.write_bytes(b"".join(lines[len(lines) // 2 :]))
        beside.replace(self._path)
