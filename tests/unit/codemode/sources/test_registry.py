"""Kinds of source that other packages bring, by entry points."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import ValidationError

from codemode import CodeMode, ConfigurationError
from codemode.catalog.tool import Effect
from codemode.settings import Settings, SourceSettings, load_settings
from codemode.sources.registry import source_of

if TYPE_CHECKING:
    from collections.abc import Callable

PAGE = Path(__file__).parents[4] / "docs" / "how-to" / "your-own-sources.md"


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Install a distribution of one module, the one of the documentation, with an entry point of this target."""
    example = re.search(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert example is not None

    def install(target: str) -> None:
        site = tmp_path / "site"
        information = site / "weather_source-1.0.dist-info"
        information.mkdir(parents=True)
        (site / "weather_source.py").write_text(example[1], encoding="utf-8")
        (information / "METADATA").write_text("Metadata-Version: 2.1\nName: weather-source\nVersion: 1.0\n")
        (information / "entry_points.txt").write_text(f"[codemode.sources]\nweather = {target}\n")
        monkeypatch.syspath_prepend(site)

    return install


def settings(tmp_path: Path, **source: Any) -> Settings:
    folders = {"state_folder": tmp_path / "state", "cache_folder": tmp_path / "cache"}
    return Settings.model_validate({"sources": {"sky": source}, **folders})


async def test_a_source_of_another_package_is_one_like_any_other(
    installed: Callable[[str], None], tmp_path: Path
) -> None:
    installed("weather_source:load")
    wanted = settings(
        tmp_path, kind="weather", location="db://anything", options={"degrees": 7}, rename={"forecast": "tomorrow"}
    )
    async with CodeMode.from_settings(wanted) as service:
        (tool,) = service.catalog
        assert (tool.id, tool.effect) == ("sky.tomorrow", Effect.READ)
        assert (await service.execute("sky.tomorrow(city='Ulm')['degrees']")).value == 7
        failed = await service.execute("sky.tomorrow(city='Atlantis')")
        assert failed.failure is not None
        assert "no such city" in failed.failure.message
        refused = await service.execute("sky.tomorrow(town='Ulm')")
        assert [str(call.state) for call in refused.calls] == []


def test_a_kind_that_nothing_reads_is_a_mistake_with_the_nearest(
    installed: Callable[[str], None], tmp_path: Path
) -> None:
    installed("weather_source:load")
    file = tmp_path / "codemode.yaml"
    file.write_text("sources:\n  sky:\n    kind: wether\n")
    with pytest.raises(ConfigurationError) as caught:
        load_settings(file)
    assert "line 3: sources.sky.kind: unknown source kind 'wether'; did you mean 'weather'?" in str(caught.value)


@pytest.mark.parametrize("target", ["weather_source:lod", "no_such_module:load"])
async def test_an_entry_point_that_names_nothing_says_so(
    installed: Callable[[str], None], tmp_path: Path, target: str
) -> None:
    installed(target)
    with pytest.raises(ConfigurationError, match="kind: weather cannot be used: "):
        await CodeMode.from_settings(settings(tmp_path, kind="weather"), strict=True).__aenter__()


def test_options_are_for_kinds_of_other_packages() -> None:
    with pytest.raises(
        ValidationError, match="options: only source kinds of other packages have options; kind: openapi has none"
    ):
        SourceSettings(location="api.json", options={"a": 1})


def test_every_kind_of_codemode_is_read_by_a_function_of_its_own() -> None:
    from codemode.settings.sources import KINDS

    assert all(callable(source_of(kind)) for kind in KINDS if kind != "auto")


@pytest.mark.parametrize(
    ("ids", "reason"),
    [
        (("sky.look", "bank.pay"), "sky lists the tool 'bank.pay', which is not in its namespace 'sky'"),
        (("sky.look", "sky.look"), "sky lists two tools as sky.look"),
    ],
)
async def test_a_source_of_another_package_keeps_to_its_namespace(
    installed: Callable[[str], None], tmp_path: Path, ids: tuple[str, ...], reason: str
) -> None:
    module = f"sky_source_{len(set(ids))}"  # imported modules stay
    installed(f"{module}:load")
    (tmp_path / "site" / f"{module}.py").write_text(
        "from codemode.catalog.tool import Tool\nfrom codemode.sources.loaded import Surface\n"
        "from codemode.transports.absent import AbsentTransport\n"
        "async def load(name, settings, context):\n"
        f"    tools = tuple(Tool(id_, source=name) for id_ in {ids!r})\n"
        "    return Surface(tools), AbsentTransport(name, 'x')\n",
        encoding="utf-8",
    )
    wanted = settings(tmp_path, kind="weather", location="db://anything", options={"degrees": 7})
    async with CodeMode.from_settings(wanted) as service:
        assert len(service.catalog) == 0
        assert reason in service.sources["sky"].warnings[0].reason
