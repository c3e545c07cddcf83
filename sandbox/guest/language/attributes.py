"""Attribute names: one decision for each, taken at compile time wherever it can be.

    plain      read and written as it stands; what plain names reach is proven harmless by a test that walks it all
    guarded    plain on the program's own objects; on others the run time looks at the object (`runtime.access`)
    private    `_x`: on the program's own objects, and a few listed ones
    dunder     `__x__` with a meaning that operators or builtins give anyway; the run time looks at the object
    refused    reaches frames, code or the interpreter

`getattr` and its like, `str.format` fields, `operator.attrgetter` and keyword patterns of `match` ask the same table.
"""

from __future__ import annotations

from enum import Enum
from functools import lru_cache

from sandbox.guest.language.variables import is_dunder, is_reserved

#: What an abstract class keeps of who is its subclass, and our mark: shared with who inherits from it.
ABC_INTERNALS = ("_abc_", "_dump_registry")
#: `_x_` attributes of Enum that show data. Others, like `_convert_`, read modules.
ENUM_INTERNALS = frozenset({"_member_map_", "_member_names_", "_value2member_map_"})
#: `_x` attributes that are public by convention: of named tuples, and of members of enumerations.
NAMED_TUPLE = frozenset({"_asdict", "_replace", "_fields", "_make"})
ENUM = frozenset({"_value_", "_name_"})  # the maps of members are the program's where the class is
LISTED_PRIVATE = NAMED_TUPLE | ENUM


class Decision(Enum):
    """What happens to an attribute name."""

    PLAIN = "plain"
    GUARDED = "guarded"
    PRIVATE = "private"
    DUNDER = "dunder"
    REFUSED = "refused"


#: What names of variables of objects may be.
OF_VARIABLES = frozenset({Decision.PLAIN, Decision.GUARDED, Decision.PRIVATE})


@lru_cache(maxsize=1_024)
def decide(name: str) -> Decision:
    """Classify an attribute name. Names of the interpreter's own kind that no table lists are refused."""
    if name.startswith("_"):
        return _decide_underscored(name)
    if name in REFUSED:
        return Decision.REFUSED
    return Decision.GUARDED if name in GUARDED else Decision.PLAIN


def _decide_underscored(name: str) -> Decision:
    if name.startswith(ABC_INTERNALS) or (is_reserved(name) and name not in ENUM_INTERNALS):
        return Decision.REFUSED
    if not is_dunder(name):
        return Decision.PRIVATE
    return Decision.DUNDER if name in DUNDERS else Decision.REFUSED


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: Names that lead to frames, code objects, greenlets or raw memory (`getbuffer`), or that evaluate text
#: (`Signature.from_callable`).
REFUSED = _names("""
    tb_frame tb_next tb_lasti
    f_back f_builtins f_code f_generator f_globals f_locals f_trace f_trace_lines f_trace_opcodes f_lasti
    co_code co_consts co_lines co_positions co_linetable co_lnotab co_exceptiontable
    gi_frame gi_code gi_yieldfrom cr_frame cr_code cr_await cr_origin ag_frame ag_code ag_await
    gr_frame gr_context from_callable getbuffer
    """)

#: Names that are ordinary on the program's own objects and on data, and that do something else elsewhere.
GUARDED = {
    "format": "str.format walks attributes: ours asks this table for each of them",
    "format_map": "as format",
    "obj": "AttributeError.obj is the object that was asked, which may be one of ours",
    "register": "ABC.register changes a class that others use",
    "now": "datetime.now shows the time of the execution",
    "today": "date.today shows the time of the execution",
    "utcnow": "datetime.utcnow shows the time of the execution",
    "get_loop": "the loop of a future is the scheduler",
    "get_context": "the context of a task holds the scheduler's place",
    "set_loop": "as get_loop",
    "get_coro": "a coroutine of a task may be ours",
    "get_stack": "gives frames of a task",
    "print_stack": "as get_stack",
    "mro": "the list of a class, as `__mro__` shows it",
    "groupindex": "a view of the dict of a pattern that others use: comparing a view hands over what is behind it",
    "with_traceback": "takes the token that `__traceback__` gives",
    "metadata": "as groupindex: fields without metadata share one dict",
}

#: Reads and calls that some operator or builtin gives as well, or that give text.
DUNDERS = _names("""
    __class__ __dict__ __doc__ __name__ __qualname__ __module__ __annotations__ __wrapped__ __slots__
    __bases__ __base__ __mro__ __subclasses__ __members__ __fields__ __match_args__ __dataclass_fields__ __args__
    __origin__ __metadata__ __total__ __required_keys__ __optional_keys__ __type_params__ __value__ __bound__
    __constraints__ __default__ __supertype__ __parameters__ __orig_bases__ __orig_class__ __defaults__ __kwdefaults__
    __isabstractmethod__ __version__ __func__ __covariant__ __contravariant__ __infer_variance__ __final__ __override__
    __deprecated__ __firstlineno__ __static_attributes__ __readonly_keys__ __mutable_keys__ __unpacked__
    __dataclass_params__
    __self__ __cause__ __context__ __suppress_context__ __notes__ __traceback__
    __new__ __init__ __del__ __post_init__ __init_subclass__ __set_name__ __class_getitem__
    __setattr__ __delattr__ __getattribute__ __getattr__ __get__ __set__ __delete__
    __repr__ __str__ __bytes__ __format__ __hash__ __bool__ __dir__ __sizeof__
    __eq__ __ne__ __lt__ __le__ __gt__ __ge__
    __len__ __length_hint__ __getitem__ __setitem__ __delitem__ __missing__ __contains__ __reversed__
    __iter__ __next__ __call__ __enter__ __exit__ __await__ __aiter__ __anext__ __aenter__ __aexit__
    __add__ __radd__ __iadd__ __sub__ __rsub__ __isub__ __mul__ __rmul__ __imul__ __matmul__ __rmatmul__ __imatmul__
    __truediv__ __rtruediv__ __itruediv__ __floordiv__ __rfloordiv__ __ifloordiv__ __mod__ __rmod__ __imod__
    __divmod__ __rdivmod__ __pow__ __rpow__ __ipow__ __lshift__ __rlshift__ __ilshift__ __rshift__ __rrshift__
    __irshift__ __and__ __rand__ __iand__ __or__ __ror__ __ior__ __xor__ __rxor__ __ixor__
    __neg__ __pos__ __abs__ __invert__ __int__ __float__ __complex__ __index__ __round__ __trunc__ __floor__ __ceil__
    __copy__ __deepcopy__ __getstate__ __setstate__ __instancecheck__ __abstractmethods__ __code__
    __stdout__ __stderr__ __json__ __html__ __tablename__ __table_args__ __abstract__ __schema__ __rich_repr__
    __fspath__ __nonzero__ __unicode__ __cmp__ __div__ __rdiv__ __idiv__ __long__
    """)

#: What is told of objects, classes and functions; the program does not define it.
_FACTS = _names("""
    __class__ __dict__ __bases__ __base__ __mro__ __subclasses__ __members__ __fields__ __dataclass_fields__
    __func__ __self__ __cause__ __context__ __traceback__ __suppress_context__ __notes__ __wrapped__ __annotations__
    __args__ __origin__ __metadata__ __total__ __required_keys__ __optional_keys__ __type_params__ __value__ __bound__
    __constraints__ __default__ __supertype__ __parameters__ __orig_bases__ __orig_class__ __defaults__ __kwdefaults__
    __name__
    __abstractmethods__ __code__ __stdout__ __stderr__ __covariant__ __contravariant__ __infer_variance__ __final__
    __override__ __deprecated__ __firstlineno__ __static_attributes__ __readonly_keys__ __mutable_keys__ __unpacked__
    __dataclass_params__
    """)

#: Methods that are wrapped where they are defined: the interpreter calls them with what a program may not see.
HOOKS = frozenset({"__getattribute__", "__getattr__", "__subclasshook__", "__subclasscheck__"})
#: What may be assigned on the program's own objects, besides what a class of the program may define.
ASSIGNABLE = _names("""
    __class__ __dict__ __name__ __qualname__ __module__ __wrapped__ __cause__ __context__ __suppress_context__
    __traceback__ __notes__
    """)

#: What a class of the program may define between two underscores.
DEFINABLE = DUNDERS - _FACTS - HOOKS

#: What `super()` does not simply hand over, as it does the methods of the next class: reading these would pass the
#: guards.
NOT_METHODS = _FACTS | _names("__getattribute__ __setattr__ __delattr__ __new__ __match_args__ __slots__")

#: Why some are left out, for the message.
NOT_DEFINABLE = {
    "__prepare__": "change the names in __new__ of the metaclass",
    "__mro_entries__": "name the base class itself",
    "__reduce__": "nothing is pickled here; define __copy__ or __deepcopy__",
    "__reduce_ex__": "nothing is pickled here; define __copy__ or __deepcopy__",
}
