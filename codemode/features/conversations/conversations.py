"""The state of all conversations of a service: in its journal, or in memory if it has none."""

from __future__ import annotations

from collections import OrderedDict
from functools import partial
from typing import TYPE_CHECKING, Any, Self

from codemode.executions.types.conversation import conversation_key
from codemode.executions.types.records import CONVERSATION
from codemode.features.conversations.dry_state import DryState
from codemode.features.conversations.memory import MemoryState, plain_digest
from codemode.features.conversations.program_state import SIGNATURES, ProgramState
from codemode.features.conversations.table import StateTable
from codemode.features.feature import FeaturePart

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from codemode.errors import CodeModeError
    from codemode.executions.life.access import Access
    from codemode.executions.life.programs import Request
    from codemode.executions.run.replay.recording import ExecutionRecording
    from codemode.executions.types.state_values import StateKey, StateWrite, StoredValue
    from codemode.features.conversations.program_state import StateReader
    from codemode.features.feature import Core, LoadResult
    from codemode.gateway.caller import Caller
    from codemode.settings import ConversationSettings


#: Conversations that are remembered as greeted. Another greeting does no harm.
_GREETED = 10_000

#: Stored values of one list.
_LISTED = 500


class Conversations(FeaturePart):
    """Gives each program the state of its conversation. `result` returns a caller's result by its handle.

    Without a journal, the state is in memory.
    """

    def __init__(self, settings: ConversationSettings, result: LoadResult, access: Access | None = None) -> None:
        self._access = access
        self._journal = access.journal if access is not None else None
        self._memory = MemoryState()
        self._greeted: OrderedDict[str, None] = OrderedDict()
        self._settings = settings
        self._result = result

    @classmethod
    def of(cls, core: Core) -> Self:
        """See `FeaturePart`."""
        access = core.executions.access if core.executions is not None else None
        return cls(core.settings.conversations, core.result, access)

    def signatures(self, settings: Mapping[str, Any]) -> Sequence[str]:
        """See `Part`."""
        return SIGNATURES if CONVERSATION in settings else ()

    def bound(self, recording: ExecutionRecording, caller: Caller) -> ProgramState | None:
        """Return the state for a recorded program, None if it has no conversation."""
        key = recording.request.settings.get(CONVERSATION, "")
        table = StateTable(recording.journal)
        write = partial(table.store_state, recording.lease)
        return self._state(key, caller, table, write)

    def bound_unrecorded(
        self, request: Request, caller: Caller, *, dry_run: bool, why: CodeModeError | None
    ) -> ProgramState | None:
        """Return the state for an unrecorded program, None if it has no conversation.

        If the program was to be recorded, `why` is the error that prevented it, and its state is unavailable. Raises
        WrongArgument for an invalid id.
        """
        kept = StateTable(self._journal) if self._journal else self._memory
        key = conversation_key(request.conversation, caller.id, self._journal.digest if self._journal else plain_digest)
        if why is not None:
            absent = _Unavailable(why)
            return self._state(key, caller, absent, absent.store_state)
        if dry_run:
            dry = DryState(kept)
            return self._state(key, caller, dry, dry.store_state, is_greeted=True)
        return self._state(key, caller, self._memory, self._memory.store_state)

    async def values(self, caller: Caller, conversation: str = "") -> tuple[StoredValue, ...]:
        """Return the newest 500 stored values that a caller sees, newest first, or those of one conversation.

        Approvers see those of all keys, other callers their own. `conversation` is the digest of its id. Empty without
        a journal. Raises JournalUnavailable.
        """
        if self._access is None:
            return ()
        await self._access.visible.opened()
        owner = "" if self._access.approvals.are_up_to(caller) else caller.id
        return await StateTable(self._access.journal).list_values(owner, conversation, _LISTED)

    async def load(self, key: StateKey, caller: Caller) -> bytes | None:
        """Return a stored value that a caller sees as JSON, None if there is none.

        Raises JournalUnavailable, JournalDamaged.
        """
        if self._access is None or (key.owner != caller.id and not self._access.approvals.are_up_to(caller)):
            return None
        return await StateTable(self._access.journal).load_state(key)

    async def remove(self, conversation: str, caller: Caller) -> int:
        """Remove the values of a conversation that a caller sees. Return their number. Raises JournalUnavailable."""
        values = await self.values(caller, conversation)
        if self._access is None or not values:
            return 0
        return await StateTable(self._access.journal).remove(values[0].key.owner, conversation)

    def _state(
        self,
        key: str,
        caller: Caller,
        reader: StateReader,
        write: Callable[[str, StateWrite], Awaitable[int]],
        *,
        is_greeted: bool = False,
    ) -> ProgramState | None:
        if not key:
            return None
        result = partial(self._result, caller=caller)
        return ProgramState(
            caller.id,
            key,
            reader=reader,
            write=write,
            result=result,
            greets=lambda: not is_greeted and self._greets(key),
            settings=self._settings,
        )

    def _greets(self, key: str) -> bool:
        """Return whether a conversation has not been greeted before."""
        is_new = key not in self._greeted
        self._greeted[key] = None
        self._greeted.move_to_end(key)
        if len(self._greeted) > _GREETED:
            self._greeted.popitem(last=False)
        return is_new


class _Unavailable:
    """State that cannot be read or written, for the reason `why`."""

    def __init__(self, why: CodeModeError) -> None:
        self._why = why

    async def store_state(self, _: str, __: StateWrite) -> int:
        raise self._why

    async def load_state(self, _: StateKey) -> bytes | None:
        raise self._why

    async def state_names(self, _: str, __: str) -> tuple[str, ...]:
        raise self._why
