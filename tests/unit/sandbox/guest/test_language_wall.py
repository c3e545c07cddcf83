"""The language layer alone holds every attempt that names it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import yaml

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[4]


def program_of(record: dict[str, Any]) -> str:
    made = record.get("code") or eval(record["code_py"])  # noqa: S307 - the corpus's own expressions
    return made.decode("latin-1") if isinstance(made, bytes) else made


def test_every_record_of_the_language_layer_is_held_by_it_alone(shared_data: Callable[[str], Path]) -> None:
    text = (shared_data("security") / "escapes.yaml").read_text()
    records = [record for record in yaml.safe_load(text) if "language" in record["layers"]]
    lines = "".join(json.dumps({"id": each["id"], "code": program_of(each)}) + "\n" for each in records)

    ran = subprocess.run(
        [sys.executable, "-m", "tests.unit.sandbox.guest.escape_runner"],
        cwd=ROOT,
        input=lines,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "CANARY_ENV": "a canary in the environment"},  # noqa: TID251 - the attempt's bait
    )

    told = [json.loads(line) for line in ran.stdout.splitlines()]
    assert len(told) == len(records) > 100, ran.stderr
    assert [each for each in told if not each["held"]] == []
