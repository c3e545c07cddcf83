"""`codemode config check | explain | schema`: the keys of `codemode.yaml`."""

from __future__ import annotations

import sys
from pathlib import Path  # noqa: TC003 -- typer reads annotations
from typing import TYPE_CHECKING, Annotated, Any

import typer

from codemode.errors import ConfigurationError
from codemode.serving.cli.first_configuration import inline
from codemode.serving.cli.project_options import FOUND, AsJson, Config, configuration
from codemode.serving.output import terminal as show
from codemode.serving.output.exit_codes import errors_as_exit_codes
from codemode.settings.keys import below, find
from codemode.settings.schema import SCHEMA_FILE, shipped

if TYPE_CHECKING:
    from codemode.settings.keys import Key

app = typer.Typer(
    no_args_is_help=True, help="Check a configuration file, explain its keys, and print their JSON Schema."
)


@app.command()
def check(
    file: Annotated[Path | None, typer.Argument(help="The configuration file, like --config.")] = None,
    config: Config = FOUND,
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Check a configuration file without reading its sources or secrets. Exit code 2 if it is invalid."""
    with errors_as_exit_codes(as_json=as_json):
        if file is not None and config is not FOUND:
            raise ConfigurationError("FILE and --config exclude each other: use one of them")
        config = file or config
        settings = configuration(config)
        _report_outdated(config.with_name(SCHEMA_FILE.name))
        if as_json:
            show.print_json({"file": str(config), "project": settings.project, "sources": list(settings.sources)})
        else:
            show.console.print(show.plain(f"{config} is valid; sources: {', '.join(settings.sources)}"), soft_wrap=True)


@app.command()
def explain(
    key: Annotated[str, typer.Argument(help="A key, such as journal.lease_s or sources.*.timeout_s.")],
    as_json: AsJson = False,  # noqa: FBT002
) -> None:
    """Explain a key: its description, type, default, valid values, and an example."""
    with errors_as_exit_codes(as_json=as_json):
        found = find(key)
        if as_json:
            show.print_json([_facts(one) for one in found])
            return
        for number, one in enumerate(found):
            show.console.print(show.plain("\n" * bool(number) + _text(one)), soft_wrap=True)


@app.command()
def schema() -> None:
    """Print the JSON Schema (draft 2020-12) of a configuration file, with a description of every key."""
    sys.stdout.write(shipped())


def _report_outdated(file: Path) -> None:
    """Print a warning if the schema beside a configuration belongs to another version of codemode."""
    if file.exists() and file.read_bytes() != SCHEMA_FILE.read_bytes():
        text = f"{file} belongs to another version; update it with `codemode config schema > {file}`"
        show.errors.print(show.plain(text, style="yellow"), soft_wrap=True)


def _facts(key: Key) -> dict[str, Any]:
    return {
        "key": key.name,
        "description": key.description,
        "type": key.type,
        "default": key.default,
        "valid": key.valid,
        "keys": below(key),
        "example": key.example,
    }


def _text(key: Key) -> str:
    rows = {
        "type": key.type,
        "default": key.default,
        "valid": key.valid,
        "keys": ", ".join(below(key)),
        "example": f"{key.path[-1]}: {inline(key.example)}",
    }
    lines = (f"  {name + ':':<8} {text}" for name, text in rows.items() if text)
    return "\n".join([key.name, f"  {key.description}", *lines])
