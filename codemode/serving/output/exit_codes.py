"""Exit codes: of the status of an execution, and of errors, which go to standard error."""

from __future__ import annotations

import traceback
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from codemode.errors import CodeModeError, SourceError

if TYPE_CHECKING:
    from collections.abc import Iterator

#: The program waits for a person (`EX_TEMPFAIL` of BSD's sysexits.h: try again later).
PAUSED = 75

#: Error codes of exceptions that are not codemode's, by exit code.
_UNEXPECTED = {4: "sandbox_unavailable", 74: "file_unusable"}


def exit_code_of(status: str) -> int:
    """Return 0 for a completed execution, 75 for one that waits for a person, else 1."""
    return {"completed": 0, "paused": PAUSED}.get(status, 1)


@contextmanager
def errors_as_exit_codes(*, as_json: bool = False) -> Iterator[None]:
    """Print errors to standard error, and exit with the code of their kind.

    With `as_json`, an error is one line, `{"error": {"code": …, "message": …, "exit_code": …}}`, and has `nearest` if
    similar names are known.
    """
    name = "internal_error"
    nearest: tuple[str, ...] = ()
    try:
        yield
    except CodeModeError as error:
        code, text = 3 if isinstance(error, SourceError) else 2, str(error)
        name, nearest = error.code, getattr(error, "nearest", ())
    except KeyboardInterrupt:
        code, text, name = 130, "interrupted", "interrupted"
    except (typer.Exit, typer.Abort):
        raise
    except Exception as error:  # noqa: BLE001 -- the boundary: users see a message and no traceback
        code, text = _unexpected(error)
        name = _UNEXPECTED.get(code, name)
    else:
        return
    from codemode.serving.output import terminal as show  # noqa: PLC0415 -- rich takes a tenth of a second

    if as_json:
        known = {"nearest": list(nearest)} if nearest else {}
        show.print_json_line({"error": {"code": name, "message": text, "exit_code": code, **known}}, show.errors)
    else:
        show.errors.print(text, markup=False, style="red", soft_wrap=True)
    raise typer.Exit(code)


def _unexpected(error: Exception) -> tuple[int, str]:
    from sandbox import SandboxError  # noqa: PLC0415 -- for errors alone

    if isinstance(error, SandboxError):
        return 4, str(error)
    if isinstance(error, OSError) and error.strerror and not isinstance(error, ConnectionError):
        return 74, f"{error.filename or 'the output'} cannot be read or written: {error.strerror}"
    where = traceback.extract_tb(error.__traceback__)[-1]
    kind = type(error).__name__
    return 70, f"internal error in codemode: {kind} at {Path(where.filename).name}:{where.lineno}; please report it"
