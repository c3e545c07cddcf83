"""How results came about: what a published figure must name to be measured again."""

from __future__ import annotations

import platform
import subprocess
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

from codemode import __version__
from codemode.bench.results import read_results
from codemode.catalog.tokens import local_tokenizer
from codemode.errors import ConfigurationError
from codemode.settings import tokenizer_folder

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from codemode.bench.players import Player
    from codemode.bench.results import Policy


def origin_of(playing: Iterable[object], settings: Mapping[str, object]) -> dict[str, str]:
    """Return date, commit, the given settings of the model, and versions of packages, as texts by name.

    The packages are those in the attribute `packages` of the suite and the players.
    """
    packages = {name: _version(name) for one in playing for name in getattr(one, "packages", ())}
    found = {
        "date": datetime.now(UTC).date().isoformat(),
        "codemode": __version__,
        "commit": _commit(),
        "Python": platform.python_version(),
        **packages,
        "tokens": "o200k_base" if local_tokenizer(tokenizer_folder()) is not None else "estimated",
        **{name: str(value) for name, value in settings.items() if value is not None},
    }
    return {name: value for name, value in found.items() if value}


def given(facts: Iterable[str]) -> dict[str, str]:
    """Return facts such as `weights=Q4_K_M` by name. Raises ConfigurationError."""
    pairs = [fact.partition("=") for fact in facts]
    wrong = next(("".join(pair) for pair in pairs if not pair[0] or not pair[2]), None)
    if wrong is not None:
        message = f"--about: {wrong!r} is not NAME=VALUE, such as weights=Q4_K_M"
        raise ConfigurationError(message)
    return {name.strip(): value.strip() for name, _, value in pairs}


def check_conditions(
    file: Path | None, suite: str, players: Sequence[Player], policy: Policy, conditions: Mapping[str, object]
) -> None:
    """Reject a run whose settings differ from those of earlier attempts, with which it would be measured.

    Raises ConfigurationError.
    """
    playing = {(suite, player.model, player.mode, policy) for player in players}
    for one in read_results(file) if file else ():
        if (one.suite, one.model, one.mode, one.policy) not in playing or not one.about:
            continue
        for name, value in conditions.items():
            before, now = one.about.get(name, "unset"), "unset" if value is None else str(value)
            if before != now:
                message = f"{file} has attempts with {name} {before}, not {now}: name another file with --out"
                raise ConfigurationError(message)


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _commit() -> str:
    """Return the commit of the working tree that this module is in; "" if it is installed, or git is not."""
    folder = Path(__file__).parents[2]
    if not (folder / ".git").exists():
        return ""
    command = ("git", "-C", str(folder), "describe", "--always", "--dirty", "--exclude=*")
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=10).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return ""
