"""Attribute names: one decision for each, taken at compile time.

    plain      read as it stands, at full speed
    looked at  ordinary on most objects, and something else on a few: the run time looks at the object (`access`)
    private    `_x`: on the program's own objects, and on data
    refused    leads to frames, code or the interpreter

`getattr` and its like, the fields of `str.format` and `operator.attrgetter` ask the same table while a program runs.
"""

from __future__ import annotations

import _string  # type: ignore[import-not-found]  # the parser of str.format
import ast
import sys
from enum import Enum
from functools import lru_cache

from sandbox.guest.language.variables import is_dunder, is_reserved

#: `_x` attributes that are public by convention: of named tuples, and of enumerations.
NAMED_TUPLE = frozenset({"_asdict", "_replace", "_fields", "_make", "_field_defaults"})
ENUM = frozenset({"_value_", "_name_", "_member_map_", "_member_names_", "_value2member_map_"})
#: The prefix of what an abstract class stores, and of the mark of the program's own classes.
_ABC_INTERNALS = "_abc_"


class Decision(Enum):
    """The decision about an attribute name."""

    PLAIN = "plain"
    LOOKED_AT = "looked at"
    PRIVATE = "private"
    REFUSED = "refused"


@lru_cache(maxsize=1_024)
def decide(name: str) -> Decision:
    """Classify an attribute name. A name like `__x__` that no table lists is refused."""
    if name in LOOKED_AT:
        return Decision.LOOKED_AT
    if name in REFUSED or name.startswith(_ABC_INTERNALS):
        return Decision.REFUSED
    if not name.startswith("_"):
        return Decision.PLAIN
    if is_dunder(name):
        return Decision.PLAIN if name in DUNDERS else Decision.REFUSED
    return Decision.REFUSED if is_reserved(name) and name not in ENUM else Decision.PRIVATE


def is_read_as_it_stands(name: str) -> bool:
    """Return whether reading an attribute needs neither a look at the object nor one at its fields."""
    return decide(name) is Decision.PLAIN and name not in METHODS_OF_DICT


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: Names that lead to frames, code objects, greenlets or raw memory, or that evaluate text.
REFUSED = _names("""
    tb_frame tb_next f_back f_builtins f_code f_generator f_globals f_locals f_trace f_lasti
    co_code co_consts gi_frame gi_code gi_yieldfrom cr_frame cr_code cr_await cr_origin ag_frame ag_code ag_await
    gr_frame gr_context from_callable getbuffer
    """)

#: Plain names that are methods of dict where they are called, and otherwise the field of an answer that has one.
METHODS_OF_DICT = frozenset(name for name in dir(dict) if not name.startswith("_"))

#: Names that need a look at the object, with the reason.
LOOKED_AT = {
    "format": "str.format walks attributes: ours decides on each of them",
    "format_map": "as format",
    **dict.fromkeys(("now", "today", "utcnow"), "dates show the time of the execution"),
    "from_file": "a time zone of a file may lead C behind the end of its data",
    "register": "abstract classes of the library decide what others are",
    **dict.fromkeys(("get_stack", "print_stack"), "a task shows its frames"),
    "__class__": "the class of a class is `type`, whatever metaclass it has",
    **dict.fromkeys(("__dict__", "__getstate__"), "shows private attributes"),
    **dict.fromkeys(("__self__", "__func__"), "a builtin function leads to its module"),
    "__subclasses__": "`object` knows every class that there is",
    **dict.fromkeys(("__setattr__", "__delattr__"), "writes under any name"),
    "__code__": "code of the library",
    **({"evaluate": "a forward reference evaluates text"} if sys.version_info >= (3, 14) else {}),
}

#: Names of operators and builtins, like `__add__`.
_METHODS = _names("""
    __new__ __init__ __del__ __post_init__ __init_subclass__ __set_name__ __class_getitem__ __subclasshook__
    __setattr__ __delattr__ __getattr__ __get__ __set__ __delete__ __replace__
    __repr__ __str__ __bytes__ __format__ __hash__ __bool__ __dir__ __sizeof__
    __eq__ __ne__ __lt__ __le__ __gt__ __ge__
    __len__ __length_hint__ __getitem__ __setitem__ __delitem__ __missing__ __contains__ __reversed__
    __iter__ __next__ __call__ __enter__ __exit__ __await__ __aiter__ __anext__ __aenter__ __aexit__
    __add__ __radd__ __iadd__ __sub__ __rsub__ __isub__ __mul__ __rmul__ __imul__ __matmul__ __rmatmul__ __imatmul__
    __truediv__ __rtruediv__ __itruediv__ __floordiv__ __rfloordiv__ __ifloordiv__ __mod__ __rmod__ __imod__
    __divmod__ __rdivmod__ __pow__ __rpow__ __ipow__ __lshift__ __rlshift__ __ilshift__ __rshift__ __rrshift__
    __irshift__ __and__ __rand__ __iand__ __or__ __ror__ __ior__ __xor__ __rxor__ __ixor__
    __neg__ __pos__ __abs__ __invert__ __int__ __float__ __complex__ __index__ __round__ __trunc__ __floor__ __ceil__
    __copy__ __deepcopy__ __getstate__ __setstate__ __instancecheck__ __subclasscheck__
    """)
_FACTS = _names("""
    __doc__ __name__ __qualname__ __module__ __annotations__ __wrapped__ __slots__ __bases__ __base__ __mro__
    __members__ __match_args__ __dataclass_fields__ __dataclass_params__ __args__ __origin__ __metadata__ __total__
    __required_keys__ __optional_keys__ __readonly_keys__ __mutable_keys__ __type_params__ __value__ __bound__
    __constraints__ __default__ __supertype__ __parameters__ __orig_bases__ __orig_class__ __defaults__ __kwdefaults__
    __isabstractmethod__ __abstractmethods__ __covariant__ __contravariant__ __infer_variance__ __final__ __override__
    __deprecated__ __firstlineno__ __static_attributes__ __unpacked__ __protocol_attrs__
    __cause__ __context__ __suppress_context__ __notes__ __traceback__ __version__ __stdout__ __stderr__
    """)
#: Names that libraries and older versions of Python use.
_CONVENTIONS = _names("""
    __json__ __html__ __fields__ __tablename__ __table_args__ __abstract__ __schema__ __rich_repr__ __fspath__
    __nonzero__ __unicode__ __cmp__ __div__ __rdiv__ __idiv__ __long__
    """)
DUNDERS = _METHODS | _FACTS | _CONVENTIONS

#: Names that a program may assign on its own objects, besides `DEFINABLE`.
ASSIGNABLE = _names("""
    __dict__ __name__ __qualname__ __module__ __doc__ __wrapped__ __cause__ __context__ __suppress_context__
    __traceback__ __notes__
    """)
#: Names that a class of the program may define.
DEFINABLE = _METHODS | _CONVENTIONS | {"__slots__", "__doc__", "__version__", "__isabstractmethod__"}

#: What to write instead, for the message.
INSTEAD = {
    "__globals__": "call globals() for a copy of the program's names",
    "__builtins__": "call the builtin by its name",
    **dict.fromkeys(("tb_frame", "tb_next"), "use traceback.format_exc() for the text of an error"),
    "__signature__": "functools.wraps(f) lets a wrapper show the signature of f",
    **dict.fromkeys(
        ("__annotations__", "__defaults__", "__kwdefaults__"),
        "write annotations and defaults where it is defined; functools.partial gives others",
    ),
    "getbuffer": "use .getvalue(), which gives the bytes",
    "__class__": "an object keeps its class: make a new one with the other class, from its attributes",
    "__getattribute__": "define __getattr__, which is asked for attributes that are missing, or use a property",
    "__prepare__": "metaclasses are not available: use a class decorator or __init_subclass__",
    "__mro_entries__": "name the base class itself",
    **dict.fromkeys(("__reduce__", "__reduce_ex__"), "nothing is pickled here; define __copy__ or __deepcopy__"),
}


# --- replacement fields ---------------------------------------------------------------------------------------------


@lru_cache(maxsize=256)
def walks_plainly(text: str) -> bool:
    """Return whether the replacement fields of a text read attributes as they stand, which C may do."""
    try:
        for _, field, spec, _ in _string.formatter_parser(text):
            if field and ("." in field or "[" in field) and not _is_plain_field(field):
                return False
            if spec and "{" in spec and not walks_plainly(spec):
                return False
    except ValueError:
        return True  # str.format raises the same
    return True


def _is_plain_field(field: str) -> bool:
    _, rest = _string.formatter_field_name_split(field)
    return all(not is_attribute or is_read_as_it_stands(key) for is_attribute, key in rest)


def is_harmless_format(node: ast.Attribute) -> bool:
    """Return whether this is `format` of a literal text that reads only plain attributes."""
    text = node.value
    if node.attr not in ("format", "format_map") or not isinstance(text, ast.Constant):
        return False
    return isinstance(text.value, str) and walks_plainly(text.value)
