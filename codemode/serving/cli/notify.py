"""`codemode notify test | list`: messages to people about what waits for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from codemode.errors import ConfigurationError
from codemode.serving.cli.project_options import AsJson, Project, with_project_options
from codemode.serving.cli.stored import with_journal
from codemode.serving.output import terminal as show
from codemode.serving.output.exit_codes import errors_as_exit_codes
from codemode.settings import Secrets
from codemode.text.nearest import did_you_mean
from codemode.text.times import rfc3339

if TYPE_CHECKING:
    from collections.abc import Sequence

    from codemode.executions.journal.base import Journal
    from codemode.executions.types.delivery import Delivery
    from codemode.features.notify.notifier import Notifier
    from codemode.settings import Settings

app = typer.Typer(no_args_is_help=True, help="Test and show messages to people about what waits for them.")


@app.command("test")
@with_project_options
def test_targets(
    project: Project,
    target: Annotated[str, typer.Argument(help="A target of `notify.targets`. Empty: all of them.")] = "",
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Send a test message to one target, or to all. Exit code 1 if one is not delivered.

    A target whose receiver answered 410 is enabled again by a delivered test message.
    """
    with errors_as_exit_codes(as_json=as_json):
        settings = project.settings()
        names = _targets(settings, target)

    async def work(journal: Journal) -> int:
        from codemode.features.notify.configured import notifier_of

        notifier = notifier_of(settings, journal, Secrets(), _unrecorded)
        failures = {name: await _failure(notifier, name) for name in names}
        if as_json:
            show.print_json([{"target": name, "delivered": not why, "error": why} for name, why in failures.items()])
        for name, why in () if as_json else failures.items():
            line = show.plain(f"{name}: not delivered: {why}", style="red") if why else f"{name}: delivered"
            show.console.print(line, soft_wrap=True)
        return 1 if any(failures.values()) else 0

    with_journal(project, work, as_json=as_json)


@app.command("list")
@with_project_options
def list_messages(
    project: Project,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="Maximum number of messages.")] = 50,
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Show messages, newest first: what they are about, their target, and whether they were delivered."""

    async def work(journal: Journal) -> int:
        messages = await journal.outbox.list(limit)
        if as_json:
            times = ("created_us", "due_us")
            show.print_json(
                [
                    {name.removesuffix("_us"): rfc3339(value) if name in times else value for name, value in fields}
                    for fields in (one._asdict().items() for one in messages)
                ]
            )
        for one in () if as_json else messages:
            about = one.question or one.execution
            why = f" ({one.error})" if one.error else ""
            line = f"{rfc3339(one.created_us)} {one.event} {about} to {one.target}: {one.state}{why}"
            show.console.print(show.plain(line), soft_wrap=True)
        if not (messages or as_json):
            show.console.print("no messages: nothing has waited for a person since `notify` was configured")
        return 0

    with_journal(project, work, as_json=as_json)


def _targets(settings: Settings, target: str) -> Sequence[str]:
    known = settings.notify.targets
    if not known:
        message = "there is no target: set `notify.targets` in the configuration"
        raise ConfigurationError(message)
    if target and target not in known:
        message = f"there is no target {target!r} in notify.targets; valid: {', '.join(known)}"
        raise ConfigurationError(message + did_you_mean(target, known))
    return [target] if target else list(known)


async def _failure(notifier: Notifier, name: str) -> str:
    """Send a test message. Return why it was not delivered, "" if it was."""
    from codemode.features.notify.targets import Undelivered

    try:
        await notifier.test(name)
    except Undelivered as error:
        return str(error)
    return ""


def _unrecorded(_: Delivery) -> None:
    """Test messages are in no record."""
