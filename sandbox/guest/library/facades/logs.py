"""`logging`: a copy of the library's module. Records go to standard error, whose first lines become a note."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sandbox.guest.library.facades.copies import copies_of
from sandbox.guest.library.facades.formats import Formatter
from sandbox.guest.library.facades.threads import listed

if TYPE_CHECKING:
    from sandbox.guest.library.scene import Scene


def logging_names(scene: Scene) -> dict[str, Any]:
    """Return the names of `logging`. There are no files, and `{}` formats read attributes as `getattr` does."""
    copy = copies_of(scene)["logging"]
    make_record = copy.Logger.makeRecord

    def make_plain(*arguments: Any) -> Any:
        record = make_record(*arguments)
        for name in [name for name in vars(record) if name.startswith("__")]:  # from `extra=`
            delattr(record, name)
        return record

    copy.Logger.makeRecord = make_plain
    copy.FileHandler = _no_file
    copy.Formatter.converter = staticmethod(copies_of(scene)["time"].localtime)
    copy.StrFormatStyle._format = lambda self, record: Formatter().vformat(self._fmt, (), vars(record))
    return listed("logging", copy)


def _no_file(*_: Any, **__: Any) -> Any:
    raise OSError("there are no files here: leave filename out")
