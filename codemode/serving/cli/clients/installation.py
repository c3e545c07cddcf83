"""Install codemode in an MCP client, and remove it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from codemode.errors import ConfigurationError
from codemode.serving.cli.clients.client_file import ClientFile, fragment
from codemode.serving.cli.clients.entries import Launch, command_of, entry, executable, inputs, link
from codemode.serving.cli.project_options import configuration
from codemode.serving.output import terminal as show
from codemode.settings import CallerReference, ClientName, mcp_clients, references, runs_codemode
from codemode.text.nearest import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from codemode.settings import Settings

#: Sections whose secrets `codemode mcp` does not read.
_UNUSED = {"agent", "server"}


class Installation:
    """codemode under a name in one client's file. All methods raise ConfigurationError."""

    def __init__(self, client: ClientName, name: str, file: Path | None) -> None:
        self._client = mcp_clients()[client]
        if not self._client.section:
            message = f"codemode is not installed in {self._client.title} by a command: add it there by hand"
            raise ConfigurationError(message)
        self._name = name
        self._file = (file or self._client.file).expanduser().absolute()

    def show(self, config: Path, *, is_link: bool, as_json: bool) -> None:
        """Print the entry or the install link, and write nothing."""
        launch = self._launch(config)
        content, asked = entry(self._client, launch), inputs(self._client, launch)
        text = link(self._client, launch) if is_link else fragment(self._client, self._name, content, asked)
        if as_json:
            show.print_json({"file": str(self._file), "link" if is_link else "entry": text if is_link else content})
        else:
            show.console.print(show.plain(text.rstrip("\n")), soft_wrap=True)

    def install(self, config: Path, *, force: bool, as_json: bool) -> None:
        """Add codemode to the file, or update its entry."""
        launch = self._launch(config)
        content = entry(self._client, launch)
        file = ClientFile(self._client, self._file)
        before = file.servers.get(self._name)
        if before is not None and not force and not runs_codemode(command_of(before)):
            message = f"{self._file} has another server {self._name!r}: choose a --name, or replace it with --force"
            raise ConfigurationError(message)
        text = file.with_server(self._name, content, inputs(self._client, launch), keeps=not force)
        backup = file.replace(text) if text != file.text else None
        if as_json:
            self._print_json(backup, entry=content)
            return
        if text == file.text:
            self._report("is up to date", None)
        else:
            self._report("updated" if before is not None else "added", backup)
        for line in (*self._about_variables(launch), self._about_approvals(config)):
            show.console.print(show.plain(line), soft_wrap=True)
        show.console.print(f"next: restart {self._client.title}", markup=False)

    def uninstall(self, *, as_json: bool) -> None:
        """Remove the entry from the file."""
        file = ClientFile(self._client, self._file)
        try:
            text = file.without_server(self._name)
        except KeyError:
            near = did_you_mean(self._name, file.servers)
            message = f"{self._file} has no server {self._name!r}{near}; servers there: {_listed(file)}"
            raise ConfigurationError(message) from None
        if not runs_codemode(command_of(file.servers[self._name])):
            message = f"the server {self._name!r} in {self._file} is not codemode: remove it in {self._client.title}"
            raise ConfigurationError(message)
        backup = file.replace(text)
        if as_json:
            self._print_json(backup)
        else:
            self._report("removed", backup)

    def _launch(self, config: Path) -> Launch:
        settings = configuration(config)
        command = (*executable(), "mcp", "--config", str(config.expanduser().absolute()))
        return Launch(self._name, command, tuple(_variables(settings)))

    def _about_variables(self, launch: Launch) -> Iterator[str]:
        """Yield what a user has to do about the environment variables that the configuration reads."""
        names = ", ".join(launch.variables)
        if not names:
            return
        if self._client.name is ClientName.VSCODE:
            yield f"VS Code asks for {names} when it starts the server"
        elif self._client.name is ClientName.CLAUDE_DESKTOP:
            yield f"Claude Desktop does not pass on variables: add {names} to `env` of the entry, or refer to a file"
            yield "in the configuration (token: {file: PATH})"
        else:
            yield f"{self._client.title} passes on {names}: set it where {self._client.title} is started"

    def _about_approvals(self, config: Path) -> str:
        """Return where a person decides on calls that wait, and how to choose another place."""
        if configuration(config).approvals.in_client == "off":
            return (
                "calls that wait for a person are decided with `codemode approvals`; to be asked in "
                f"{self._client.title} instead, set approvals: {{in_client: single_user}} in the configuration"
            )
        return f"calls that wait for a person are asked about in {self._client.title}, if it can ask (elicitation)"

    def _report(self, action: str, backup: Path | None) -> None:
        kept = f"; backup: {backup}" if backup else ""
        show.console.print(show.plain(f"{self._name} {action}: {self._file}{kept}"), soft_wrap=True)

    def _print_json(self, backup: Path | None, **more: Any) -> None:
        facts = {"client": self._client.name, "name": self._name, "file": str(self._file)}
        show.print_json({**facts, "backup": str(backup) if backup else None, **more})


def _variables(settings: Settings) -> Iterator[str]:
    """Yield the environment variables that the configuration refers to, each once."""
    found: dict[str, None] = {}
    for place, reference in references(settings):
        is_callers = isinstance(reference, CallerReference) and reference.caller
        if reference.env and not is_callers and place.partition(".")[0] not in _UNUSED:
            found[reference.env] = None
    yield from found


def _listed(file: ClientFile) -> str:
    return ", ".join(file.servers) or "none"
