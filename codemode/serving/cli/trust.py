"""`codemode trust`: let a configuration file that was found in a folder do what it says."""

from __future__ import annotations

from typing import Annotated

import typer

from codemode.errors import ConfigurationError
from codemode.serving.cli.consent import ASKED, has_terminal
from codemode.serving.cli.project_options import FOUND, AsJson, Config
from codemode.serving.output import terminal as show
from codemode.serving.output.exit_codes import errors_as_exit_codes
from codemode.settings import ConfigurationUntrusted, distrust, load_settings, trust

app = typer.Typer()


@app.command("trust")
def command(
    yes: Annotated[bool, typer.Option("--yes", help="Trust without asking.")] = False,  # noqa: FBT002
    remove: Annotated[bool, typer.Option("--remove", help="Trust the file no longer.")] = False,  # noqa: FBT002
    as_json: AsJson = False,  # noqa: FBT002
    config: Config = FOUND,
) -> None:
    """Show what the configuration file of this folder would run, read and send, and trust it as it is.

    A file that changes is asked about again. A file named by --config needs no trust.
    """
    with errors_as_exit_codes(as_json=as_json):
        if remove:
            _report(str(config), "was_trusted" if distrust(config) else "was_not_trusted", as_json=as_json)
            return
        try:
            load_settings(config, is_named=False)
        except ConfigurationUntrusted as untrusted:
            if not as_json:
                show.errors.print(show.plain(untrusted.question), soft_wrap=True)
            if not yes and not has_terminal():
                message = f"nobody can be asked here: `codemode trust --yes` trusts {config} without a question"
                raise ConfigurationError(message) from None
            if not yes and not typer.confirm(ASKED, err=True):
                raise typer.Exit(1) from None
            trust(untrusted.file, untrusted.digest)
            _report(str(config), "trusted", as_json=as_json)
        else:
            _report(str(config), "needs_no_trust_now", as_json=as_json)


def _report(file: str, state: str, *, as_json: bool) -> None:
    if as_json:
        show.print_json({"file": file, "state": state})
    else:
        show.console.print(show.plain(f"{file}: {state.replace('_', ' ')}"), soft_wrap=True)
