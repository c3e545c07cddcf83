"""The text of a UnicodeDecodeError. C reads the byte at `start`, wherever that is, of what it takes for bytes.

So it is up to CPython 3.12.7 and 3.13.0 (gh-123378); of what `object` is set to, longer. The class is C's and has its
text in a slot: there is no call to replace it.
"""

from __future__ import annotations

import ctypes
import gc
from typing import Any

#: Where a type object keeps what makes the text: behind the head of an object, its size, and 14 pointers.
_TEXT_OFFSET = object.__basicsize__ + 15 * ctypes.sizeof(ctypes.c_void_p)


class _WithText:
    """Has in that slot what calls a function."""

    def __str__(self) -> str:
        return ""


def restrict_decode_errors() -> None:
    """Let the text be made of what there is. Again is no error."""
    names: Any = gc.get_referents(vars(UnicodeDecodeError))[0]
    if names["__str__"] is _text_of:
        return
    names["__str__"] = _text_of
    slot, ours = (ctypes.c_void_p.from_address(id(kind) + _TEXT_OFFSET) for kind in (UnicodeDecodeError, _WithText))
    slot.value = ours.value
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(UnicodeDecodeError))


#: What C keeps in such an error, whatever a class of the program says of it.
_read: Any = {name: vars(UnicodeDecodeError)[name].__get__ for name in ("encoding", "object", "start", "end", "reason")}


def _text_of(self: UnicodeDecodeError) -> str:
    encoding, reason = str(_read["encoding"](self)), str(_read["reason"](self))  # code of the program may run here
    data, start, end = (_read[name](self) for name in ("object", "start", "end"))
    if data is None:  # it was made without `__init__`
        return ""
    what = f"bytes in position {start}-{end - 1}"
    if type(data) is bytes and 0 <= start < len(data) and end == start + 1:
        what = f"byte 0x{data[start]:02x} in position {start}"
    return f"'{encoding}' codec can't decode {what}: {reason}"


_text_of.__name__ = _text_of.__qualname__ = "__str__"
