"""`codemode keys create | list | rotate | revoke`: the keys that servers accept. No restart is needed."""

from __future__ import annotations

import re
import time
from contextlib import closing, contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from codemode.errors import ConfigurationError
from codemode.executions.journal.configured import store_of
from codemode.serving.auth.keys import keys_of
from codemode.serving.cli.project_options import AsJson, Project, no_role, with_project_options
from codemode.serving.cli.tables import print_table
from codemode.serving.output import terminal as show
from codemode.serving.output.exit_codes import errors_as_exit_codes
from codemode.settings import DEFAULT_ROLE, Secrets
from codemode.text.times import SECOND_US, rfc3339

if TYPE_CHECKING:
    from collections.abc import Iterator

    from codemode.serving.auth.keys import Keys, StoredKey
    from codemode.settings import Settings

app = typer.Typer(no_args_is_help=True, help="Manage server keys: create, list, rotate, revoke.")

Id = Annotated[str, typer.Argument(metavar="ID", help="The id of a key, from `codemode keys list`.")]

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
_SHOWN_ONCE = "The key is shown only this once."


@app.command()
@with_project_options
def create(
    project: Project,
    label_: Annotated[str, typer.Argument(metavar="[LABEL]", help="Owner or purpose of the key, like --label.")] = "",
    role: Annotated[str, typer.Option(help="The role of callers with this key.")] = DEFAULT_ROLE,
    label: Annotated[str, typer.Option(help="Owner or purpose of the key.")] = "",
    expires: Annotated[str, typer.Option(help="Lifetime, as 12h or 90d. Default: unlimited.")] = "",
    read_only: Annotated[bool, typer.Option("--read-only", help="Deny calls other than reads.")] = False,  # noqa: FBT002
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Create a key, and show it once."""
    with errors_as_exit_codes(as_json=as_json):
        settings = project.settings()
        known = settings.policy.known_roles()
        if role not in known:
            raise no_role(role, tuple(known))
        if label_ and label:
            raise ConfigurationError("LABEL and --label exclude each other: use one of them")
        lifetime_s = _seconds(expires) if expires else None
        with _keys(settings) as keys:
            key, text = keys.create(role=role, label=label or label_, lifetime_s=lifetime_s, read_only=read_only)
        _show_once(key, text, as_json=as_json)


@app.command("list")
@with_project_options
def list_keys(
    project: Project,
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """List all keys. Their texts are not stored."""
    with errors_as_exit_codes(as_json=as_json):
        with _keys(project.settings()) as found:
            keys = found.entries()
        if as_json:
            show.print_json([_public(key) for key in keys])
            return
        columns = ("id", "role", "label", "status", "created", "expires", "read_only")
        rows = [[_cell(public[name]) for name in columns] for public in map(_public, keys)]
        print_table(columns, rows, may_be_cut=("label",))


@app.command()
@with_project_options
def rotate(
    project: Project,
    id_: Id,
    grace: Annotated[str, typer.Option(help="How long the old key stays valid: 0s, 1h, 7d.")] = "24h",
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Replace a key by a new one with the same id and role, and show it once."""
    with errors_as_exit_codes(as_json=as_json):
        with _keys(project.settings()) as keys:
            key, text = keys.rotate(id_, grace_s=_seconds(grace))
        _show_once(key, text, as_json=as_json)


@app.command()
@with_project_options
def revoke(
    project: Project,
    id_: Id,
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Revoke a key. The next request with it is rejected."""
    with errors_as_exit_codes(as_json=as_json):
        with _keys(project.settings()) as keys:
            key = keys.revoke(id_)
        if as_json:
            show.print_json(_public(key))
        else:
            show.console.print(f"{key.id} is revoked")


@contextmanager
def _keys(settings: Settings) -> Iterator[Keys]:
    """Yield the keys that the servers of these settings accept."""
    with closing(store_of(settings, Secrets())) as store:
        yield keys_of(settings, store)


def _show_once(key: StoredKey, text: str, *, as_json: bool) -> None:
    if as_json:
        show.print_json({**_public(key), "key": text})
        return
    show.errors.print(f"{_SHOWN_ONCE} id {key.id}, role {key.role}", style="dim")
    show.console.print(text, soft_wrap=True)


def _public(key: StoredKey) -> dict[str, Any]:
    """Return the public fields of a key."""
    data = asdict(key)
    return {
        "id": key.id,
        "role": key.role,
        "label": key.label,
        "status": key.status(time.time()),
        **{name: _moment(data[name]) for name in ("created", "expires", "old_until")},
        "read_only": key.read_only,
    }


def _cell(value: object) -> str:
    return "yes" if value is True else str(value or "")


def _moment(seconds: float | None) -> str | None:
    return rfc3339(seconds * SECOND_US) if seconds else None


def _seconds(text: str) -> float:
    match = re.fullmatch(r"(\d{1,9})([smhdw])", text)
    if match is None:
        message = f"{text!r} is not a duration; write a number and s, m, h, d or w: 12h, 90d"
        raise ConfigurationError(message)
    return float(int(match[1]) * _UNITS[match[2]])
