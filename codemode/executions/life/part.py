"""What a feature does for one service: the places where executions ask it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from codemode.catalog.catalog import Catalog
    from codemode.errors import CodeModeError
    from codemode.executions.life.programs import Request
    from codemode.executions.run.bound import Bound
    from codemode.executions.run.replay.recording import ExecutionRecording
    from codemode.executions.run.stage import Stage, Staging
    from codemode.executions.types.outcome import ExecutionOutcome
    from codemode.executions.types.planned import Listing
    from codemode.executions.types.records import Decision, PendingCall
    from codemode.gateway.caller import Caller
    from codemode.search.query import Hits, Learned
    from codemode.sources.factory import LoadedSource


class Part:
    """Base class. Override what the feature needs; each method is called in one place, which it names."""

    async def applied(self, request: Request, caller: Caller) -> tuple[Request, Mapping[str, Any]]:
        """Return a request as it is recorded, and what to add to the recorded settings. Called by `Executions.start`.

        The settings tell the feature's stage about the request, also in a replay.
        """
        return request, {}

    async def listed(
        self, outcome: ExecutionOutcome, listing: Listing, request: Request, caller: Caller
    ) -> ExecutionOutcome:
        """Return the outcome of a dry run with what its caller should know. Called after `Runner.run`."""
        return outcome

    def stage(self, staging: Staging) -> Stage | None:
        """Return the stage in the pipeline of a run, None for nothing. Called by the executor."""
        return None

    async def run(self, request: Request, caller: Caller) -> ExecutionOutcome | None:
        """Run a program that no journal records in the feature's own way, None to leave it. Called before `Runner.run`.

        Dry runs are left to the runner.
        """
        return None

    def signatures(self, settings: Mapping[str, Any]) -> Sequence[str]:
        """Return what a recorded program with these settings sees. Called by `Runner.settings`."""
        return ()

    def bound(self, recording: ExecutionRecording, caller: Caller) -> Bound | None:
        """Return what is bound in a recorded program, None for nothing. Called by `Runner.perform`."""
        return None

    def bound_unrecorded(
        self, request: Request, caller: Caller, *, dry_run: bool, why: CodeModeError | None
    ) -> Bound | None:
        """Return what is bound in an unrecorded program, None for nothing. Called by `Runner.run`.

        If the program was to be recorded, `why` is the error that prevented it. Raises WrongArgument.
        """
        return None

    async def resuming(self, execution: str) -> None:
        """Answer what an execution waits for, as far as that has happened. Called by `Executions.resume`."""

    async def deciding(self, decisions: Sequence[Decision]) -> None:
        """Refuse decisions before they are recorded. Called by `Executions.decide`. Raises ApprovalRefused."""

    async def decided(self, decisions: Sequence[Decision], calls: Sequence[PendingCall], caller: Caller) -> None:
        """Take the decisions that were recorded, and their calls. Called by `Executions.decide`."""

    def opened(self) -> None:
        """Begin the work that needs an open journal. Called by `Executions.open`, on the first use of the journal."""

    async def aclose(self) -> None:
        """End that work. Called by `Executions.aclose`, before the journal is closed, or by `Runtime.aclose`."""

    def remarks(self, sources: Collection[str], caller: Caller) -> Sequence[str]:
        """Return what a caller should know of sources whose tools a search has found. Called by `Discovery.find`.

        It may wait for a store.
        """
        return ()

    def advice(self) -> str:
        """Return a sentence for the definition of `execute`, "" for nothing. Called by `Discovery.inline`."""
        return ""

    def searched(self, hits: Hits, caller: Caller, conversation: str) -> None:
        """Take the hits of a search in a conversation, "" for none. Called by `Discovery.find`."""

    async def learned(self, caller: Caller) -> Learned | None:
        """Return what raises tools in the searches of a caller, None for nothing. Called by `Discovery.find`."""
        return None

    def used(self) -> Sequence[tuple[str, str]]:
        """Return queries, each with the tool that was called after it. Called by `Discovery.labelled`."""
        return ()

    def has_changed(self) -> bool:
        """Return whether `sources` would differ after `refresh`. Does not wait. Called by `CodeMode.view`."""
        return False

    def refresh(self) -> None:
        """Read what `sources` are made from. Called in a thread, before the sources are published."""

    def sources(self, catalog: Catalog) -> Mapping[str, LoadedSource]:
        """Return the feature's own sources by name. `catalog` has the tools of all others."""
        return {}
