"""Loading plugins: by name only, with their options, and with mistakes explained."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest
from pydantic import ValidationError

import codemode
from codemode import ConfigurationError, Plugin, PluginCall
from codemode.errors import EnvironmentIncomplete, WrongArgument
from codemode.executions.plugins.hooks import NO_HOOKS
from codemode.executions.plugins.loading import load_hooks
from codemode.settings import PluginSettings, Settings

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Install = Callable[..., None]

MODULE = """
from codemode import ConfigurationError, Plugin

class Guard(Plugin):
    def __init__(self, options):
        super().__init__(options)
        if "colour" in options:
            raise ConfigurationError("there is no option 'colour'")
        self.limit = options.get("limit", 1) + 0

    async def before_call(self, call):
        return None

NOTHING = len
"""


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Install:
    """A function that puts a distribution with entry points of the group `codemode.plugins` on the path."""

    def installed(distribution: str = "guards", **entries: str) -> None:
        (tmp_path / "guard_plugin.py").write_text(MODULE, encoding="utf-8")
        info = tmp_path / f"{distribution}-2.1.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 2.1\n", encoding="utf-8")
        lines = "\n".join(f"{name} = {value}" for name, value in entries.items())
        (info / "entry_points.txt").write_text(f"[codemode.plugins]\n{lines}\n", encoding="utf-8")

    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "guard_plugin", raising=False)
    return installed


def test_a_plugin_is_loaded_by_its_name_with_its_options(install: Install) -> None:
    install(guard="guard_plugin:Guard")
    hooks = load_hooks([PluginSettings(name="guard", options={"limit": 3})])
    (plugin,) = hooks.plugins
    assert (plugin.name, plugin.version, plugin.options) == ("guard", "2.1", {"limit": 3})
    assert hooks.identity == "guard 2.1"


def test_an_installed_plugin_that_is_not_named_is_not_imported(install: Install) -> None:
    install(guard="guard_plugin:Guard")
    assert load_hooks(Settings().plugins) is NO_HOOKS
    assert "guard_plugin" not in sys.modules


def test_the_configuration_names_a_plugin_or_gives_it_options(install: Install) -> None:
    install(guard="guard_plugin:Guard", other="guard_plugin:Guard")
    settings = Settings.model_validate({"plugins": ["guard", {"name": "other", "options": {"limit": 2}}]})
    assert settings.plugins == (PluginSettings(name="guard"), PluginSettings(name="other", options={"limit": 2}))


def test_an_unknown_plugin_is_rejected_with_the_nearest(install: Install) -> None:
    install(guard="guard_plugin:Guard")
    with pytest.raises(ValidationError, match=r"unknown plugin 'gard'; did you mean 'guard'\? installed: guard"):
        Settings.model_validate({"plugins": ["gard"]})


def test_without_any_plugin_package_the_message_says_so() -> None:
    with pytest.raises(ValidationError, match=r"unknown plugin 'guard'; no package with plugins is installed here"):
        Settings.model_validate({"plugins": ["guard"]})


@pytest.mark.parametrize(
    ("entry", "options", "message"),
    [
        ("guard_plugin:Guard", {"colour": 1}, "plugins: guard: there is no option 'colour'"),
        ("guard_plugin:Guard", {"limit": "s3cret"}, "plugins: guard cannot be loaded .*: it raised TypeError$"),
        ("guard_plugin:Gard", {}, "plugins: guard cannot be loaded from guard_plugin:Gard: it raised AttributeError$"),
        ("guard_plugin:NOTHING", {}, "plugins: guard: guard_plugin:NOTHING is no subclass of codemode.Plugin"),
    ],
)
def test_a_plugin_that_cannot_be_created_is_explained(
    install: Install, entry: str, options: dict[str, object], message: str
) -> None:
    install(guard=entry)
    with pytest.raises(ConfigurationError, match=message) as raised:
        load_hooks([PluginSettings(name="guard", options=options)])
    assert "s3cret" not in str(raised.value)


def test_a_missing_module_is_named(install: Install) -> None:
    install(guard="no_such_module:Guard")
    with pytest.raises(EnvironmentIncomplete, match="guard cannot be imported: No module named 'no_such_module'"):
        load_hooks([PluginSettings(name="guard")])


def test_two_packages_with_one_name_are_rejected(install: Install) -> None:
    install(guard="guard_plugin:Guard")
    install("others", guard="guard_plugin:Guard")
    with pytest.raises(ConfigurationError, match="2 installed packages register 'guard'"):
        load_hooks([PluginSettings(name="guard")])


class Misspelt(Plugin):
    async def before_cal(self, call: PluginCall) -> None:
        """Do nothing."""


class Synchronous(Plugin):
    def before_call(self, call: PluginCall) -> None:  # type: ignore[override]
        """Do nothing."""


class Idle(Plugin):
    async def _helper(self) -> None:
        """Do nothing."""


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        (Misspelt, "plugins: Misspelt has 'before_cal', which is no hook; did you mean 'before_call'?"),
        (Synchronous, "plugins: Synchronous.before_call must be a coroutine function: `async def before_call`"),
        (Idle, "plugins: Idle implements no hook; valid: before_call, after_call, answer_approval, format_result"),
    ],
)
def test_a_wrong_hook_is_rejected_at_the_start(kind: type[Plugin], message: str) -> None:
    with pytest.raises(ConfigurationError) as raised:
        codemode.CodeMode(Settings(), plugins=[kind()])
    assert str(raised.value).startswith(message)


class Fine(Plugin):
    async def before_call(self, call: PluginCall) -> None:
        """Let the call pass."""


def test_plugins_can_be_passed_in_python() -> None:
    assert codemode.CodeMode(Settings(), plugins=[Fine()]).hooks.identity == "Fine"


def test_one_name_for_two_plugins_is_rejected() -> None:
    with pytest.raises(ConfigurationError, match="'Fine' is named twice"):
        load_hooks((), [Fine(), Fine()])


def test_an_object_that_is_no_plugin_is_rejected() -> None:
    with pytest.raises(WrongArgument, match=r"derive its class from codemode\.Plugin"):
        codemode.CodeMode(Settings(), plugins=[object()])  # type: ignore[list-item]
