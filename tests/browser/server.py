"""A server in a process of its own, for browsers."""

from __future__ import annotations

import re
import subprocess
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tests.command_line import SCRIPT, script_environment

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.conftest import Gym

#: The gym with two keys. A person must approve each call of `gym.core.get_gym_info`.
CONFIGURATION = """
sources:
  gym:
    location: {gym.document}
    base_url: {gym.url}
    credentials: [{{kind: bearer, token: {{file: {gym.token_file}}}}}]
server:
  keys:
    - {{env: AGENT_KEY, label: Ada's agent}}
    - {{env: BOSS_KEY, role: approver, label: Grace}}
policy:
  rules: [{{name: a person looks, tools: gym.core.get_gym_info, decision: ask, reason: for a test}}]
journal: {{enabled: true}}
state_folder: {folder}/state
cache_folder: {folder}/cache
"""

AGENT = "the-key-of-an-agent"
BOSS = "the-key-of-a-person"


_URL = re.compile(r"http://\S+$")


@dataclass(frozen=True)
class Server:
    """A running server. `cookies` holds the sessions that tests have opened, by key."""

    url: str
    cookies: dict[str, list[dict[str, object]]] = field(default_factory=dict)

    @property
    def console(self) -> str:
        """The address of the console."""
        return f"{self.url}/console"


@contextmanager
def serving(folder: Path, gym: Gym, configuration: str = CONFIGURATION, **values: object) -> Iterator[Server]:
    """Run `codemode serve` in a folder within the block.

    The configuration is a template of `gym`, `folder` and these values.
    """
    (folder / "codemode.yaml").write_text(configuration.format(gym=gym, folder=folder, **values), encoding="utf-8")
    environment = script_environment(folder) | {"AGENT_KEY": AGENT, "BOSS_KEY": BOSS}
    command = [SCRIPT, "serve", "--config", "codemode.yaml", "--port", "0"]
    with subprocess.Popen(command, cwd=folder, env=environment, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        said = []
        for line in process.stderr:
            said.append(line)
            if _URL.search(line):  # warnings name addresses too, but not at their end
                break
        assert _URL.search(said[-1]), "".join(said)
        try:
            yield Server(said[-1].split()[-1])
        finally:
            process.terminate()
