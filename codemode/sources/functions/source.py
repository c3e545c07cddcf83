"""The source kind `python`: functions, modules and classes as tools."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import keyword
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from codemode.catalog.identifiers import identifier
from codemode.errors import SourceError
from codemode.settings import PYTHON
from codemode.shared.extras import remedy
from codemode.sources.functions import callables, tool_objects
from codemode.sources.functions.tool_objects import is_langchain_toolkit, is_tool_object
from codemode.sources.loaded import SourceWarning, Surface
from codemode.text.normal_form import normalized
from codemode.transports.function import FunctionTransport

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from codemode.catalog.tool import Tool
    from codemode.settings import SourceSettings
    from codemode.sources.source import SourceContext

#: Types of data. Their methods are not tools.
DATA = (str, bytes, bytearray, int, float, complex, type(None))

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


async def load(name: str, settings: SourceSettings, context: SourceContext) -> tuple[Surface, FunctionTransport]:
    """Import a location and read its functions. Raises SourceError."""
    try:
        surface = load_functions(import_target(settings.location), name=name)
    except SourceError as error:
        raise error if error.location else error.at(settings.location) from None
    return surface, FunctionTransport(
        name, timeout_s=settings.timeout_s, concurrency=settings.concurrency, contents=context.contents
    )


def import_target(location: str) -> Any:
    """Import a module, or a name in it (`python:package.module:name`, `file.py:name`).

    Raises SourceError, also for any exception during the import.
    """
    module_name, _, attribute = location.removeprefix(PYTHON).partition(":")
    try:
        target: Any = (
            _file_module(Path(module_name)) if module_name.endswith(".py") else importlib.import_module(module_name)
        )
        for part in filter(None, attribute.split(".")):
            target = getattr(target, part)
    except (Exception, SystemExit) as error:  # a script may call sys.exit()
        missing = remedy(error) if isinstance(error, ImportError) else ""
        message = f"cannot be imported: {type(error).__name__}: {error}{missing}"
        raise SourceError(message, location=location) from error
    return target


def load_functions(target: object, *, name: str) -> Surface:
    """Return the tools of a module, class, object or function, or of a list or dict of these.

    A module has the functions in `__all__`, else those defined in it, and its classes as groups. A class has its public
    methods, called on one instance that is created without arguments. Functions that cannot be called with JSON data
    are left out with a warning. Raises SourceError if no tool is left, or for two functions of one id.
    """
    tools: dict[str, Tool] = {}
    warnings: list[SourceWarning] = []
    for id_, (path, function) in _by_id(name, target).items():
        try:
            _check_names(path)
            tools[id_] = python_tool(function, id_, source=name, tags=path[:-1])
        except SourceError as error:
            warnings.append(SourceWarning("/" + "/".join(path), str(error)))
    if not tools:
        unread = "".join(f"; {warned.reason}" for warned in warnings[:3])
        message = f"{name} has no callable functions{unread}"
        raise SourceError(message)
    text = (inspect.getdoc(target) if isinstance(target, ModuleType) else None) or ""
    return Surface(tuple(tools.values()), tuple(warnings), title=text.partition("\n")[0], description=text)


def _by_id(name: str, target: object) -> dict[str, tuple[tuple[str, ...], Any]]:
    """Return the callables of a target with their paths, by the id that programs write. The same one may come twice.

    Raises SourceError for two callables of one id: neither may stand for the other.
    """
    by_id: dict[str, tuple[tuple[str, ...], Any]] = {}
    for path, function in _callables(target, ()):
        names = tuple(normalized("NFKC", part) for part in path)  # as Python reads identifiers
        id_ = ".".join((name, *names))
        _, earlier = by_id.setdefault(id_, (names, function))
        if not _is_same(earlier, function):
            message = (
                f"two functions have the id {id_}: {_place(earlier)} and {_place(function)}; pass them in a dict under"
                " different names"
            )
            raise SourceError(message)
    return by_id


def _is_same(one: Any, other: Any) -> bool:
    return one is other or (inspect.ismethod(one) and inspect.ismethod(other) and one == other)


def _place(function: Any) -> str:
    """Return where a function is defined, such as `shop.orders.find`."""
    named = function if hasattr(function, "__qualname__") else type(function)
    return f"{named.__module__}.{named.__qualname__}"


def python_tool(target: Any, id_: str, *, source: str, tags: tuple[str, ...] = ()) -> Tool:
    """Return the tool that calls a function, a LangChain tool or another tool object. Raises SourceError."""
    make = tool_objects.tool_of if is_tool_object(target) else callables.tool_of
    return make(target, id_, source=source, tags=tags)


def _callables(target: object, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    if isinstance(target, dict):
        for name, member in target.items():
            yield from _callables(member, (*path, str(name)))
    elif (exported := _members_of_collection(target)) is not None:
        for member in exported:
            yield from _callables(member, (*path, name_of(member)))
    elif isinstance(target, ModuleType):
        for name, member in _members(target):
            yield from _callables(member, (*path, _snake(name) if inspect.isclass(member) else name))
    elif inspect.isclass(target):
        instance = _instance(target)
        if instance is not None:
            yield from _methods(instance, path)
    elif _is_called(target):
        yield path or (name_of(target),), target
    else:
        yield from _methods(target, path)


def _members_of_collection(target: Any) -> Iterable[Any] | None:
    if is_langchain_toolkit(target):
        tools: list[Any] = target.get_tools()
        return tools
    return target if isinstance(target, list | tuple | set | frozenset) else None


def _is_called(target: object) -> bool:
    is_function = inspect.isroutine(target) or is_tool_object(target)
    return is_function or (callable(target) and not _has_methods(target))


def _check_names(path: tuple[str, ...]) -> None:
    for part in path:
        if not part.isidentifier() or keyword.iskeyword(part):
            message = f"{part!r} is not a valid Python name: pass the function in a dict, under another name"
            raise SourceError(message)


def _members(module: ModuleType) -> Iterator[tuple[str, Any]]:
    """Yield the functions and classes in `__all__` of a module, else the public ones defined in it."""
    exported = getattr(module, "__all__", None)
    for name, member in vars(module).items():
        if not (inspect.isroutine(member) or inspect.isclass(member)):
            continue
        is_own = getattr(member, "__module__", None) == module.__name__ and not name.startswith("_")
        if name in exported if exported is not None else is_own:
            yield name, member


def _methods(target: object, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield the public methods of an object, without reading its properties. Raises SourceError for data."""
    if isinstance(target, DATA):
        subject = f"the value of {'.'.join(path)!r}" if path else "the target"
        message = (
            f"{subject} has the type {type(target).__name__}, expected a function, module, class or object with methods"
        )
        raise SourceError(message)
    for name, member in inspect.getmembers_static(type(target)):
        if not name.startswith("_") and (inspect.isroutine(member) or isinstance(member, staticmethod | classmethod)):
            yield (*path, name), getattr(target, name)


def _has_methods(target: object) -> bool:
    return next(_methods(target, ()), None) is not None


def _instance(target: type) -> object | None:
    """Create an instance without arguments. None if that is not possible, or for data classes and exceptions."""
    if issubclass(target, BaseException) or hasattr(target, "__dataclass_fields__") or hasattr(target, "model_fields"):
        return None
    parameters = _parameters(target)
    if parameters is None or any(p.default is p.empty and p.kind not in (2, 4) for p in parameters.values()):
        return None
    return target()


def _parameters(target: type) -> Mapping[str, inspect.Parameter] | None:
    try:
        return inspect.signature(target).parameters
    except ValueError:
        return None


def instance_of(target: object) -> object:
    """Return an instance of a class that takes no arguments. Other objects are returned unchanged."""
    return (_instance(target) or target) if inspect.isclass(target) else target


def name_of(target: Any) -> str:
    """Return the name of a function or a callable object."""
    if is_tool_object(target):
        return identifier(target.name)
    target = getattr(target, "func", target)  # the function of a partial
    if inspect.isroutine(target):
        return target.__name__
    return _snake(target.__name__ if inspect.isclass(target) else type(target).__name__)


def _snake(name: str) -> str:
    return _CAMEL.sub("_", name).lower()


def _file_module(path: Path) -> ModuleType:
    """Import a file as a module, under a name that does not clash with other modules."""
    name = f"codemode_source_{re.sub(r'[^0-9A-Za-z]', '_', str(path.resolve()))}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None or not path.is_file():
        message = f"no such file: {path}"
        raise ImportError(message)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses and type hints look up their module here
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module
