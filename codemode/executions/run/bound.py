"""What features bind in a program, beside the tools and the functions of every program."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from codemode.executions.types.outcome import ExecutionOutcome
    from sandbox import Call

    BoundFunction = Callable[[Call], Awaitable[Any]]


class Bound(Protocol):
    """What a feature binds in one program.

    `signatures` are what the program sees: functions (`load(name)`), and values (`last=load`).
    """

    @property
    def signatures(self) -> Sequence[str]:
        """Return what the program sees."""
        ...

    @property
    def functions(self) -> Mapping[str, BoundFunction]:
        """Return the functions by signature. They raise CodeModeError, and ValidationError for wrong arguments."""
        ...

    async def ended(self, outcome: ExecutionOutcome) -> ExecutionOutcome:
        """Return the outcome of the program with what its model should know."""
        ...
