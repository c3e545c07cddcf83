from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from codemode.executions.life.runner import Runner
from codemode.executions.run.executor import Executor
from codemode.settings import LimitSettings, PolicySettings, SandboxSettings
from codemode.sources.destination import Destination

if TYPE_CHECKING:
    from collections.abc import Mapping

    from codemode.gateway.caller import Caller
    from codemode.gateway.caller_view import View


async def _no_view(_: Caller) -> View:
    raise AssertionError


def test_the_digests_of_the_environment_are_computed_once_until_a_reload() -> None:
    destinations: Mapping[str, Destination] = {"gym": Destination("gym.example", "https://gym.example")}
    computed: list[Any] = []

    def digest(value: Any) -> str:
        computed.append(value)
        return str(value)

    runner = Runner(
        Executor(SandboxSettings(), LimitSettings()),
        view=_no_view,
        functions=lambda _: MappingProxyType({}),
        policy=lambda: policy,
        destinations=lambda: destinations,
    )
    policy = PolicySettings()
    first = runner.environment(digest)
    assert runner.environment(digest) is first
    assert len(computed) == 1

    destinations = {"gym": Destination("other.example", "https://other.example")}
    assert runner.environment(digest)["the address of gym"] == "https://other.example"
    policy = PolicySettings(roles=("support",))
    assert runner.environment(digest)["the policy"] != first["the policy"]
