"""Classes of vetted modules that programs may inherit from: their private attributes hold data, and no module."""

from __future__ import annotations

from importlib import import_module
from typing import Any

INHERITABLE: dict[str, str] = {
    "calendar": "Calendar HTMLCalendar TextCalendar",
    "collections": "ChainMap Counter OrderedDict UserDict UserList defaultdict deque",
    "collections.abc": (
        "AsyncGenerator AsyncIterable AsyncIterator Awaitable Callable Collection Container Coroutine Generator "
        "Hashable "
        "ItemsView Iterable Iterator KeysView Mapping MappingView MutableMapping MutableSequence MutableSet Reversible "
        "Sequence Set Sized ValuesView"
    ),
    "contextlib": "AbstractAsyncContextManager AbstractContextManager AsyncContextDecorator ContextDecorator",
    "csv": "Dialect excel",
    "datetime": "date datetime time timedelta tzinfo",
    "decimal": "Decimal",
    "fractions": "Fraction",
    "html.parser": "HTMLParser",
    "io": "BytesIO StringIO",
    "json": "JSONDecoder JSONEncoder",
    "numbers": "Complex Integral Number Rational Real",
    "string": "Template",
    "textwrap": "TextWrapper",
    "types": "SimpleNamespace",
    "uuid": "UUID",
}


def inheritable() -> set[Any]:
    """Return the classes themselves."""
    return {getattr(import_module(module), name) for module, names in INHERITABLE.items() for name in names.split()}
