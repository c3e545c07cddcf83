"""Lets the runner of the program corpus run its records: programs in a guest with their clock, mistakes in a CodeMode.

What a mistake is answered is the product's own text, as a model gets it: nothing here adds to it.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).parents[3]))

from codemode import CodeMode, Settings
from codemode.errors import CallError, UpstreamError
from codemode.model.outcome_text import outcome_text
from sandbox.guest import program
from tests.unit.sandbox.guest.host_double import HostDouble, run_guest

if TYPE_CHECKING:
    from collections.abc import Callable


class ProgramFailed(Exception):
    """Carries what a model would be shown."""


class Adapter:
    """The interface of the corpus's runner."""

    def start(self) -> None:
        """Nothing."""

    def run(self, code: str, tools: dict[str, Any], record: dict[str, Any]) -> tuple[Any, str]:
        if "expect_error" in record:
            return asyncio.run(_in_product(code, tools, record["operations"]))
        program.warm_up()
        shown = record.get("now") or "2026-01-15T12:00:00Z"
        now = int(datetime.fromisoformat(shown.replace("Z", "+00:00")).timestamp() * 1_000_000)
        host = HostDouble(tools, now=now, delays=lambda call_id: 0, preflight=lambda sites: None)
        names = sorted({name.partition(".")[0] for name in record["operations"]})
        ended = run_guest(code, tools, names=names, now=now, host=host)
        if ended.status != "completed":
            raise ProgramFailed(ended.message)
        return ended.value, ended.output


async def _in_product(code: str, tools: dict[str, Any], operations: dict[str, Any]) -> tuple[Any, str]:
    """Run a program with the operations as tools of a CodeMode."""
    with tempfile.TemporaryDirectory() as folder:
        folders = {"state_folder": folder, "cache_folder": folder}
        policy = {"default": {"destructive": "allow"}}  # what a mistake is told, and not who may do what
        settings = Settings.model_validate({**folders, "policy": policy})
        async with CodeMode.from_settings(settings, functions=_functions(tools, operations)) as service:
            ended = await service.execute(code)
    if not ended.ok:
        raise ProgramFailed(outcome_text(ended))
    return ended.value, "\n".join((ended.output, *ended.notes))


def _functions(tools: dict[str, Any], operations: dict[str, Any]) -> dict[str, Any]:
    """The operations by namespace and group, as objects that say themselves what their arguments are."""
    roots: dict[str, Any] = {}
    for name, operation in operations.items():
        *groups, last = name.split(".")
        place = roots
        for group in groups:
            place = place.setdefault(group, {})
        schema = {
            "type": "object",
            "properties": {parameter: {} for parameter in operation["params"]},
            "required": operation["required"],
            "additionalProperties": False,
        }
        place[last] = SimpleNamespace(name=last, description=name, args_schema=schema, run=_run(tools[name]))
    return roots


def _run(tool: Callable[..., Any]) -> Callable[..., Any]:
    def run(**arguments: Any) -> Any:
        try:
            return tool(**arguments)
        except Exception as error:  # noqa: BLE001 -- the corpus has an error of its own
            status = getattr(error, "status", None)
            raise (CallError(str(error)) if status is None else UpstreamError(str(error), status=status)) from None

    return run
