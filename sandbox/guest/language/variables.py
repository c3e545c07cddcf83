"""Names of variables: those that a program may bind or read, and advice for the others."""

from __future__ import annotations

from typing import NamedTuple


class Advice(NamedTuple):
    """The reason why a name is not available, and what to write instead."""

    reason: str
    instead: str


#: Dunder variables that a program may read, as in a script.
READABLE = frozenset({"__name__", "__doc__", "__class__", "__debug__"})

#: Dunder variables that scripts assign at their top level.
BINDABLE = frozenset({
    "__all__", "__version__", "__author__", "__doc__", "__name__", "__license__", "__date__", "__email__",
    "__credits__", "__copyright__", "__maintainer__", "__status__", "__title__", "__description__",
})  # fmt: skip

#: `_x_` names that Enum uses.
ENUM_NAMES = frozenset({"_value_", "_name_", "_missing_", "_order_", "_ignore_", "_generate_next_value_"})


def is_dunder(name: str) -> bool:
    """Return whether a name has the form `__x__`."""
    return len(name) > 4 and name.startswith("__") and name.endswith("__")


#: The prefix of our attributes on classes that programs inherit from.
OURS = "_sandbox_"


def is_reserved(name: str) -> bool:
    """Return whether a name has the form `_x_`, as hooks of sandboxes have, or our prefix."""
    return name.startswith(OURS) or (
        len(name) > 2
        and name.startswith("_")
        and name.endswith("_")
        and not is_dunder(name)
        and name.strip("_") != ""
        and name not in ENUM_NAMES
    )


_NO_FILES = "there are no files here"
_NO_CODE = "text is never run as code here"
_NO_STDIN = "nobody types into a program here"

#: Builtins of CPython that are not available. A program may bind such a name itself.
UNAVAILABLE: dict[str, Advice] = {
    "open": Advice(
        _NO_FILES,
        "a file that was sent is a variable of the inputs, or load(reference) reads it; "
        "return the text (a result may be a string), or use io.StringIO where something wants a file",
    ),
    "eval": Advice(
        _NO_CODE,
        "write the expression itself, without quotes; json.loads and ast.literal_eval read data, "
        "getattr(namespace, name)(...) chooses an operation by name; of a formula that comes as text, take the parts "
        "with re.findall and compute them with operator.add, operator.mul and the like",
    ),
    "exec": Advice(_NO_CODE, "write the statements themselves, or a function"),
    "compile": Advice(_NO_CODE, "write the statements themselves; re.compile is available for patterns"),
    "input": Advice(_NO_STDIN, "assign the value in the program"),
    "raw_input": Advice(_NO_STDIN, "assign the value in the program"),
    "breakpoint": Advice("there is no debugger here", "print what you want to see"),
    "memoryview": Advice("it gives raw memory", "slice bytes or a bytearray"),
    "__builtins__": Advice("the interpreter's own names are not data", "call the builtin by its name"),
    "__build_class__": Advice("it belongs to the interpreter", "write a class statement"),
    "__loader__": Advice("it belongs to the interpreter", "write an import statement"),
    "__spec__": Advice("it belongs to the interpreter", "write an import statement"),
    "__file__": Advice("a program is no file here", "leave it out"),
    "__path__": Advice("a program is no file here", "leave it out"),
    "__package__": Advice("a program is no package here", "leave it out"),
    "__globals__": Advice("it belongs to the interpreter", "use globals(), which gives a copy"),
}
