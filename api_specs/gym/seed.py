"""Seed a gym with two years of history, identical for the same clock: seed.sql and the functions that it calls.

names.txt has first names in its first line and last names in its second.
"""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from api_specs.gym.database import Database

_FOLDER = Path(__file__).parent


def fill(db: Database) -> None:
    """Fill an empty database."""
    draws = random.Random(137)  # noqa: S311  # sample data, nothing secret
    first_names, last_names = (_FOLDER / "names.txt").read_text(encoding="utf-8").splitlines()
    midnight = datetime.fromisoformat(db.today)

    def day(days: float) -> str:
        return (midnight + timedelta(days=days)).date().isoformat()

    def moment(days: float, minutes: int) -> str:
        return (midnight + timedelta(days=days, minutes=minutes)).isoformat() + "Z"

    def draw(low: int, high: int) -> int:
        return low + int(draws.random() * (high + 1 - low))

    functions: dict[str, Callable[..., Any]] = {
        "day": day,
        "moment": moment,
        "draw": draw,
        "pick": lambda *values: values[draw(0, len(values) - 1)],
        "first_name": lambda: draws.choice(first_names.split()),
        "last_name": lambda: draws.choice(last_names.split()),
        "phone": lambda: f"+49 30 555{draw(0, 9999):04}",
    }
    db.run_script((_FOLDER / "seed.sql").read_text(encoding="utf-8"), functions)
