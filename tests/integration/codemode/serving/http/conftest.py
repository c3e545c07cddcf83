"""A server in a process of its own, with an agent's key and an approver's."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from tests.command_line import SCRIPT, script_environment

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.conftest import Gym

_CONFIGURATION = """
sources:
  gym:
    location: {gym.document}
    base_url: {gym.url}
    credentials: [{{kind: bearer, token: {{file: {gym.token_file}}}}}]
server: {{keys: [{{env: AGENT_KEY}}, {{env: BOSS_KEY, role: approver}}]}}
policy: {{rules: [{{name: a person looks, tools: gym.core.get_gym_info, decision: ask, reason: for a test}}]}}
journal: {{enabled: true}}
state_folder: {folder}/state
cache_folder: {folder}/cache
"""


@dataclass(frozen=True)
class Server:
    """The address of a server, and its keys."""

    url: str
    agent: str = "the-key-of-an-agent"
    boss: str = "the-key-of-a-person"


@pytest.fixture(scope="module")
def server(gym: Gym, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server of the example service. A person must approve calls of `gym.core.get_gym_info`."""
    folder = tmp_path_factory.mktemp("server")
    (folder / "codemode.yaml").write_text(_CONFIGURATION.format(gym=gym, folder=folder), encoding="utf-8")
    environment = script_environment(folder) | {"AGENT_KEY": Server.agent, "BOSS_KEY": Server.boss}
    command = [SCRIPT, "serve", "--config", "codemode.yaml", "--port", "0"]
    with subprocess.Popen(command, cwd=folder, env=environment, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        said = []
        for line in process.stderr:
            said.append(line)
            if "http://" in line:
                yield Server(line.split()[-1])
                break
        else:
            pytest.fail("".join(said))
        process.terminate()
