"""What the library puts off until something is used: imports, when no file can be read any more, and names of classes.

A worker could do neither: its files are out of reach, and its classes are frozen.
"""

from __future__ import annotations

import ast
import string
from contextlib import suppress
from importlib import import_module

#: Modules that are imported by functions: of `ast` and `traceback` from Python 3.14 on, and of `email.utils`.
_IMPORTED_LATE = ("_ast_unparse", "codeop", "email.charset")


def use_for_the_first_time() -> None:
    """Do what would else be done in a program."""
    for name in _IMPORTED_LATE:
        with suppress(ModuleNotFoundError):  # an older Python
            import_module(name)
    ast.unparse(ast.Constant(None))
    string.Template("").substitute()  # from Python 3.14 on its pattern is made now
