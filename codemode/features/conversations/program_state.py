"""`store`, `load` and `last` of one running program."""

from __future__ import annotations

import json
import logging
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Protocol

from pydantic import BaseModel, ConfigDict, Field

from codemode.catalog.content import is_content_id
from codemode.errors import CodeModeError, ResultNotFound
from codemode.executions.types.handles import handle_of, is_handle
from codemode.executions.types.state_values import StateKey, StateWrite
from codemode.features.conversations.errors import NoLastResult, StateNotFound, StateRejected
from codemode.text.visible import visible
from sandbox import JsonText

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from codemode.executions.run.bound import BoundFunction
    from codemode.executions.types.outcome import ExecutionOutcome
    from codemode.settings import ConversationSettings
    from sandbox import Call

log = logging.getLogger(__name__)

#: The name of the previous result. Programs read it as a variable.
LAST = "last"

STORE, LOAD = "store(name, value)", "load(name)"

#: What a program sees in a conversation: two functions, and the value `last`.
SIGNATURES = (STORE, LOAD, f"{LAST}=load")

_SHARED = (
    "programs of one conversation share only the values that store(name, value) keeps, which load(name) returns, and"
    " `last`, the previous result"
)
_GREETING = "`last` is this result in the next program; store(name, value) keeps more, and load(name) returns it"
_UNLIMITED = 1 << 62

#: Characters of the first result after which a conversation is told about state: about 500 tokens.
_LARGE = 2_000

Name = Annotated[str, Field(min_length=1, max_length=100)]


class _Store(BaseModel):
    """The arguments of `store`."""

    model_config = ConfigDict(extra="forbid")

    name: Name
    value: Any


class _Load(BaseModel):
    """The arguments of `load`."""

    model_config = ConfigDict(extra="forbid")

    name: Name


class StateReader(Protocol):
    """Reads stored values."""

    async def load_state(self, key: StateKey) -> bytes | None:
        """Return a value as JSON, None if there is none or it has expired."""
        ...

    async def state_names(self, owner: str, conversation: str) -> tuple[str, ...]:
        """Return the names of a conversation's values, in order."""
        ...


class ProgramState:
    """The `codemode.executions.run.bound.Bound` of one program: what it shares with the others of its conversation.

    `owner` and `conversation` (a digest) say whose state it is. `write` stores a value for the path of a call, once.
    `result` returns the result with a handle. `greets` returns whether the conversation is not yet told about state.
    """

    def __init__(
        self,
        owner: str,
        conversation: str,
        *,
        reader: StateReader,
        write: Callable[[str, StateWrite], Awaitable[int]],
        result: Callable[[str], Awaitable[Any]],
        greets: Callable[[], bool],
        settings: ConversationSettings,
    ) -> None:
        self._owner = owner
        self._conversation = conversation
        self._reader = reader
        self._write = write
        self._result = result
        self._greets = greets
        self._settings = settings

    @property
    def signatures(self) -> Sequence[str]:
        """What the program sees."""
        return SIGNATURES

    @property
    def functions(self) -> Mapping[str, BoundFunction]:
        """The functions by signature. They raise CodeModeError, and ValidationError for wrong arguments."""
        return {STORE: self._store, LOAD: self._load}

    async def ended(self, outcome: ExecutionOutcome) -> ExecutionOutcome:
        """Make the result of a completed program `last`, and return the outcome with what its model should know."""
        failure = outcome.failure
        if failure is not None and failure.type == "NameError" and "did you mean" not in failure.hint:
            hint = f"{failure.hint} {_SHARED}".strip()
            return replace(outcome, failure=replace(failure, hint=hint))
        if not (outcome.ok and outcome.has_value):
            return outcome
        try:
            await self._written(LAST, LAST, handle_of(outcome.id), _UNLIMITED)
        except CodeModeError as error:
            log.warning("the result of %s did not become `last`: %s", outcome.id, error)
            return outcome
        is_told = _is_large(outcome) and self._greets()
        return replace(outcome, notes=(*outcome.notes, _GREETING)) if is_told else outcome

    async def _store(self, call: Call) -> None:
        asked = _Store.model_validate(call.arguments)
        _check_name(asked.name)
        limit = self._settings.bytes_per_key
        excess = await self._written(call.path, asked.name, asked.value, limit)
        if excess:
            message = (
                f"store({asked.name!r}, …): the values of this key would exceed conversations.bytes_per_key, "
                f"{limit:,} bytes, by {excess:,}: store less, or replace a value that is no longer needed"
            )
            raise StateRejected(message)

    async def _written(self, path: str, name: str, value: Any, owner_bytes: int) -> int:
        data = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")
        most = self._settings.value_bytes
        if len(data) > most:
            message = (
                f"store({name!r}, …): the value has {len(data):,} bytes as JSON, and conversations.value_bytes allows "
                f"{most:,}: store the part that later programs need"
            )
            raise StateRejected(message)
        key = StateKey(self._owner, self._conversation, name)
        return await self._write(path, StateWrite(key, data, self._settings.keep_s, owner_bytes))

    async def _load(self, call: Call) -> Any:
        name = _Load.model_validate(call.arguments).name
        if _is_kept(name):
            return await self._result(name)
        data = (
            await self._reader.load_state(StateKey(self._owner, self._conversation, name)) if _is_name(name) else None
        )
        if name != LAST:
            if data is None:
                raise StateNotFound(name, await self._stored())
            return json.loads(data)
        if data is None:
            raise NoLastResult
        try:
            return await self._result(json.loads(data))
        except ResultNotFound:
            raise NoLastResult from None

    async def _stored(self) -> list[str]:
        names = await self._reader.state_names(self._owner, self._conversation)
        return [name for name in names if name != LAST]


def _is_large(outcome: ExecutionOutcome) -> bool:
    """Return whether a result is large enough that a model saves work by not making it again."""
    return isinstance(outcome.result, JsonText) or len(json.dumps(outcome.result)) >= _LARGE


def _is_kept(name: str) -> bool:
    """Whether a name stands for what is kept without `store`: a result by its handle, or content by its id."""
    return is_handle(name) or is_content_id(name)


def _is_name(name: str) -> bool:
    return name.isprintable() and visible(name) == name


def _check_name(name: str) -> None:
    if name == LAST or _is_kept(name):
        what = "the previous result" if name == LAST else "the handle of a result" if is_handle(name) else "a file"
        message = f"store({name!r}, …): the name stands for {what}; choose another"
        raise StateRejected(message)
    if not _is_name(name):
        message = f"store({name!r}, …): a name has visible characters only"
        raise StateRejected(message)
