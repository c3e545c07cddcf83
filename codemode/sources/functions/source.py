"""Python functions, modules and classes as a source."""

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
from codemode.sources.functions import langchain, tool_objects
from codemode.sources.functions.callables import tool_of
from codemode.sources.loaded import Surface, Warned
from codemode.sources.registry import remedy
from codemode.transports.function import FunctionTransport

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from codemode.catalog.tool import Tool
    from codemode.settings import SourceSettings
    from codemode.sources.source import SourceContext

#: Data, whose methods nobody means.
DATA = (str, bytes, bytearray, int, float, complex, type(None))

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


async def load(name: str, settings: SourceSettings, _: SourceContext) -> tuple[Surface, FunctionTransport]:
    """Import what a location says, and take its functions. Raises SourceError."""
    try:
        surface = load_functions(import_target(settings.location), name=name)
    except SourceError as error:
        raise error if error.location else error.at(settings.location) from None
    return surface, FunctionTransport(name, timeout_s=settings.timeout_s, concurrency=settings.concurrency)


def import_target(location: str) -> Any:
    """The module, or the name in it, that a location says. Raises SourceError, also for what its import raises."""
    where, _, attribute = location.removeprefix(PYTHON).partition(":")
    try:
        target: Any = _file_module(Path(where)) if where.endswith(".py") else importlib.import_module(where)
        for part in filter(None, attribute.split(".")):
            target = getattr(target, part)
    except (Exception, SystemExit) as error:  # a script that leaves must not take the command with it
        missing = remedy(error) if isinstance(error, ImportError) else ""
        message = f"cannot be imported: {type(error).__name__}: {error}{missing}"
        raise SourceError(message, location=location) from error
    return target


def load_functions(target: object, *, name: str) -> Surface:
    """The tools of a module, a class or an object of one, a function, or a list or dict of these.

    A module gives the functions that are its own (or stand in `__all__`), and its classes as groups; a class its public
    methods, called on one object that is made without arguments. What cannot be called with JSON data is left out, and
    stands in the warnings. Raises SourceError where no tool is left.
    """
    tools: dict[str, Tool] = {}
    warnings: list[Warned] = []
    for path, function in _callables(target, ()):
        id_ = ".".join((name, *path))
        try:
            _check_names(path)
            tools[id_] = python_tool(function, id_, source=name, tags=path[:-1])
        except SourceError as error:
            warnings.append(Warned("/" + "/".join(path), str(error)))
    if not tools:
        unread = "".join(f"; {warned.reason}" for warned in warnings[:3])
        message = f"{name} has no functions that can be called{unread}"
        raise SourceError(message)
    title = inspect.getdoc(target) if isinstance(target, ModuleType) else None
    return Surface(tuple(tools.values()), tuple(warnings), title=(title or "").partition("\n")[0])


def python_tool(target: Any, id_: str, *, source: str, tags: tuple[str, ...] = ()) -> Tool:
    """The tool that calls a function, a LangChain tool or another tool object. Raises SourceError."""
    if langchain.is_langchain_tool(target):
        return langchain.tool_of(target, id_, source=source, tags=tags)
    make = tool_objects.tool_of if is_tool_object(target) else tool_of
    return make(target, id_, source=source, tags=tags)


def is_tool_object(target: object) -> bool:
    """Whether it is an object that says itself what its arguments are, and is called in a way of its own."""
    return langchain.is_langchain_tool(target) or tool_objects.is_tool_object(target)


def _callables(target: object, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    if isinstance(target, dict):
        for name, member in target.items():
            yield from _callables(member, (*path, str(name)))
    elif (listed := _listed(target)) is not None:
        for member in listed:
            yield from _callables(member, (*path, name_of(member)))
    elif isinstance(target, ModuleType):
        for name, member in _members(target):
            yield from _callables(member, (*path, _snake(name) if inspect.isclass(member) else name))
    elif inspect.isclass(target):
        made = _instance(target)
        if made is not None:
            yield from _methods(made, path)
    elif _is_called(target):
        yield path or (name_of(target),), target
    else:
        yield from _methods(target, path)


def _listed(target: Any) -> Iterable[Any] | None:
    if langchain.is_langchain_toolkit(target):
        tools: list[Any] = target.get_tools()
        return tools
    return target if isinstance(target, list | tuple | set | frozenset) else None


def _is_called(target: object) -> bool:
    is_function = inspect.isroutine(target) or is_tool_object(target)
    return is_function or (callable(target) and not _has_methods(target))


def _check_names(path: tuple[str, ...]) -> None:
    for part in path:
        if not part.isidentifier() or keyword.iskeyword(part):
            message = f"{part!r} is no name that a program can write: give the function under another in a dict"
            raise SourceError(message)


def _members(module: ModuleType) -> Iterator[tuple[str, Any]]:
    """What a module offers: the names in `__all__`, else the public functions and classes defined in it."""
    listed = getattr(module, "__all__", None)
    for name, member in vars(module).items():
        if not (inspect.isroutine(member) or inspect.isclass(member)):
            continue
        own = getattr(member, "__module__", None) == module.__name__ and not name.startswith("_")
        if name in listed if listed is not None else own:
            yield name, member


def _methods(target: object, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """The public methods of an object; its properties are not looked at. Raises SourceError for data."""
    if isinstance(target, DATA):
        where = f"what stands under {'.'.join(path)!r}" if path else "what was given"
        message = (
            f"{where} is of the type {type(target).__name__}: a function, module, class or object of one is wanted"
        )
        raise SourceError(message)
    for name, member in inspect.getmembers_static(type(target)):
        if not name.startswith("_") and (inspect.isroutine(member) or isinstance(member, staticmethod | classmethod)):
            yield (*path, name), getattr(target, name)


def _has_methods(target: object) -> bool:
    return next(_methods(target, ()), None) is not None


def _instance(target: type) -> object | None:
    """An object of a class that needs no arguments; None for data (dataclasses, models, enums, exceptions)."""
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


def made(target: object) -> object:
    """A class as an object of it, where it can be made without arguments; anything else as it is."""
    return (_instance(target) or target) if inspect.isclass(target) else target


def name_of(target: Any) -> str:
    """What a function is called, or an object that is called like one."""
    if is_tool_object(target):
        return identifier(target.name)
    target = getattr(target, "func", target)  # what a partial calls
    if inspect.isroutine(target):
        return target.__name__
    return _snake(target.__name__ if inspect.isclass(target) else type(target).__name__)


def _snake(name: str) -> str:
    return _CAMEL.sub("_", name).lower()


def _file_module(path: Path) -> ModuleType:
    """The module of a file, under a name that no import would find by chance."""
    name = f"codemode_source_{re.sub(r'[^0-9A-Za-z]', '_', str(path.resolve()))}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None or not path.is_file():
        message = f"there is no file {path}"
        raise ImportError(message)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses and type hints look their module up
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module
