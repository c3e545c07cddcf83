"""What every test may ask for."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from codemode.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

with suppress(ImportError):  # the environments of other frameworks run without Hypothesis
    import hypothesis

    # An example that takes long on a busy machine is no failure.
    hypothesis.settings.register_profile("untimed", deadline=None)
    hypothesis.settings.load_profile("untimed")

SHARED = Path(os.environ.get("CODEMODE_SHARED", Path(__file__).parents[2] / "shared"))  # noqa: TID251


@pytest.fixture(scope="session")
def shared_data() -> Callable[[str], Path]:
    """Development data that is not part of the project: its folder, or a skip that says what is missing."""

    def folder(name: str) -> Path:
        path = SHARED / name
        if not path.is_dir():
            pytest.skip(f"development data is not here: {name}/ (set CODEMODE_SHARED to the folder that holds it)")
        return path

    return folder


@dataclass(frozen=True)
class Gym:
    """The example service, running in a process of its own."""

    url: str
    token_file: Path
    document: Path

    def settings(self, **sections: object) -> Settings:
        """Settings with the gym as the only source; `sections` are further sections of the configuration."""
        source = {
            "location": str(self.document),
            "base_url": self.url,
            "credentials": [{"kind": "bearer", "token": {"file": str(self.token_file)}}],
        }
        folders = {"state_folder": self.token_file.parent / "state", "cache_folder": self.token_file.parent / "cache"}
        return Settings.model_validate({"sources": {"gym": source}, **folders, **sections})


@pytest.fixture(scope="session")
def gym(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gym]:
    """The example service on a loopback port of its own."""
    token_file = tmp_path_factory.mktemp("gym") / "token"
    token_file.write_text("a-token-for-tests", encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "api_specs.gym",
        "--host",
        "127.0.0.1",
        "--port",
        "0",
        "--token",
        "a-token-for-tests",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        word, _, url = process.stdout.readline().strip().partition(" ")
        assert word == "READY", f"the example service said {word!r}"
        yield Gym(url, token_file, Path(str(files("api_specs.gym") / "openapi.yaml")))
        process.terminate()


#: Tests with the guest in their own process. It makes classes of the library unchangeable and replaces methods of
#: them, for good, so that these come last: in each process tests run in order.
WITH_GUEST = "tests/unit/sandbox/guest/"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option by which the core's tests run without any feature: `make core`."""
    parser.addoption("--without-features", action="store_true", help="services have no features unless a test says so")


def pytest_configure(config: pytest.Config) -> None:
    """Make services without features by default if the option asks for it."""
    if config.getoption("--without-features"):
        from codemode.service import CodeMode

        CodeMode.__init__.__kwdefaults__["features"] = ()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put last what changes its process. Without features, leave out the tests that are about one."""
    items.sort(key=lambda item: item.nodeid.startswith(WITH_GUEST))
    if config.getoption("--without-features"):
        items[:] = [item for item in items if not _is_of_feature(item)]


def _is_of_feature(item: pytest.Item) -> bool:
    """Return whether a test is marked, stands in a folder of features, or is in a module that imports one."""
    module = item.getparent(pytest.Module)
    content = module.path.read_text(encoding="utf-8") if module is not None else ""
    is_marked = item.get_closest_marker("feature") is not None
    return is_marked or "features" in item.path.parts or "codemode.features." in content


#: Why a test may skip in CI although the data is there: what it needs is another thing, and not there.
MEANT_SKIPS = (
    "is not installed: make servers')",
    "newer than this Python')",
    "older than this Python')",
    "systemd is not installed')",
    "docker compose is not installed')",
    "`make bench-agents` installs the suites')",
    "which `make chaos` needs')",
    "`make tokens` installs the tokenizer')",
)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """In CI a test must not skip although the development data is present."""
    outcome = yield
    report = outcome.get_result()  # type: ignore[attr-defined]
    in_ci = os.environ.get("CI") == "true"  # noqa: TID251
    is_meant = not report.skipped or hasattr(report, "wasxfail") or str(report.longrepr).endswith(MEANT_SKIPS)
    if in_ci and SHARED.is_dir() and not is_meant:
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} was skipped although the development data is here: {report.longrepr}"
