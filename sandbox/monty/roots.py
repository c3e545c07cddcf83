"""Tools as the interpreter sees them: objects without attributes of their own, which ask the host for each name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic_monty import ClassInstance

from sandbox.protocol.guest_messages import NAME_CHARACTERS

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from uuid import UUID

#: The root under which each namespace is bound, too.
_TOOLS = "tools"


class Tool:
    """A namespace, a group or a tool. The program sees the name of this class."""

    __module__ = "builtins"


class Roots:
    """Finds the dotted name of a tool for an object of the interpreter.

    `names` are namespaces, and signatures of what also takes positional arguments (`search(queries)`, `shop.buy(id)`),
    and values (`last=load`).
    """

    def __init__(self, names: Collection[str]) -> None:
        self._objects: dict[str, ClassInstance] = {}
        self._paths: dict[UUID, str] = {}
        self._parameters: dict[str, tuple[str, ...]] = {}
        #: The functions that return the values of names, as in `last=load`.
        self.values = dict(name.split("=", 1) for name in names if "=" in name)
        functions = [name for name in names if "=" not in name]
        for name in functions:
            tool, is_signature, parameters = name.partition("(")
            if is_signature:
                self._parameters[tool] = tuple(parameters.rstrip(")").replace(" ", "").split(","))
        #: The names that are bound.
        self.names = tuple({name.partition("(")[0].partition(".")[0]: None for name in functions})

    def bound(self) -> Mapping[str, ClassInstance]:
        """Return the object of each name."""
        return {_TOOLS: self._object("")} | {name: self._object(name) for name in self.names}

    def attribute(self, owner: UUID, name: str) -> ClassInstance | None:
        """Return the object behind an attribute, None for a name that no tool has."""
        if owner not in self._paths or name.startswith("_"):
            return None
        path = self._path(owner, name)
        return None if len(path) > NAME_CHARACTERS else self._object(path)

    def called(self, owner: UUID, method: str) -> str:
        """Return the name of the tool that is called, as a method of `owner` or as the object itself.

        Raises TypeError if `owner` is the class of tools.
        """
        if owner not in self._paths:
            raise TypeError("the class of tools cannot be called")
        return self._paths[owner] if method == "__call__" else self._path(owner, method)

    def arguments(self, tool: str, positional: tuple[object, ...], named: dict[str, object]) -> dict[str, object]:
        """Return the arguments by name. Raises TypeError if they have none, RuntimeError for a name of no tool."""
        if len(tool) > NAME_CHARACTERS:
            message = f"there is no tool {tool[:40]}…"
            raise RuntimeError(message)
        parameters = self._parameters.get(tool, ())
        if positional and parameters and parameters[0].startswith("*"):
            return {parameters[0][1:]: list(positional), **named}
        if len(positional) > len(parameters):
            message = f"{tool}() takes keyword arguments only: name each of them"
            if parameters:
                message = f"{tool}({', '.join(parameters)}) takes {len(parameters)} arguments, {len(positional)} given"
            raise TypeError(message)
        return {**dict(zip(parameters, positional, strict=False)), **named}

    def _path(self, owner: UUID, name: str) -> str:
        return f"{self._paths[owner]}.{name}".removeprefix(".")

    def _object(self, path: str) -> ClassInstance:
        known = self._objects.get(path)
        if known is None:
            known = self._objects[path] = ClassInstance(Tool())
            self._paths[known.id] = path
        return known
