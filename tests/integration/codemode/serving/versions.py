"""Another version of the packages in a folder of its own: what a release changes, for tests of servers side by side."""

from __future__ import annotations

import shutil
from pathlib import Path

from codemode.executions.journal.migrations import migrations
from codemode.executions.run.replay.dependencies import REPLAYS_FROM

ROOT = Path(__file__).parents[4]
LATER = "9.9.0"

#: A migration that expands the schema.
EXPAND = "CREATE TABLE later (a TEXT);\nALTER TABLE executions ADD COLUMN later TEXT NOT NULL DEFAULT '';\n"


def later_version(folder: Path, *, replays_alike: bool = True) -> Path:
    """Copy the packages, with a later version number and one more migration. Return the folder for PYTHONPATH."""
    for package in ("codemode", "sandbox"):
        shutil.copytree(ROOT / package, folder / package, ignore=shutil.ignore_patterns("__pycache__"))
    metadata = folder / f"codemode-{LATER}.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: codemode\nVersion: {LATER}\n")
    number = 1 + max(migrations(dialect)[-1].version for dialect in ("sqlite", "postgres"))
    for dialect in ("sqlite", "postgres"):
        place = folder / "codemode" / "executions" / "journal" / "migrations" / dialect
        (place / f"{number:04}_later.sql").write_text(EXPAND)
    if not replays_alike:
        dependencies = folder / "codemode" / "executions" / "run" / "replay" / "dependencies.py"
        text = dependencies.read_text()
        changed = text.replace(f'REPLAYS_FROM = "{REPLAYS_FROM}"', f'REPLAYS_FROM = "{LATER}"')
        assert changed != text
        dependencies.write_text(changed)
    return folder
