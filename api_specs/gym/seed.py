"""A gym with two years behind it, the same for the same clock: seed.sql, and the functions that it draws with."""

from __future__ import annotations

import random
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from api_specs.gym.database import Database

_FIRST_NAMES = """Aisha Amir Ana Anton Bea Boris Carla Chen Clara Dan Daria Emil Emma Eva Farid Fiona Georg Grace Hana Hugo
Ida Ines Ivan Jana Jonas Julia Kai Karim Lea Leo Lina Luca Maja Marco Maria Mateo Mia Mila Nadia Nils Nora Oscar Paul Petra
Priya Rafael Rosa Sami Sara Sofia Tariq Theo Tom Vera Viktor Yuki Zoe""".split()
_LAST_NAMES = """Abbas Andersen Bauer Berg Bianchi Brown Costa Diaz Dubois Evans Fischer Garcia Gruber Haddad Hansen Hoffmann
Horvat Ito Jansen Kaya Keller Khan Kim Klein Kovacs Larsen Lehmann Lopez Meyer Moreau Murphy Nowak Okafor Olsen Patel Petrov
Popescu Ricci Rossi Roux Sato Schmidt Silva Singh Smith Suzuki Tanaka Taylor Tran Vogel Wagner Walker Weber Wong Yilmaz
Zhang""".split()


def fill(db: Database) -> None:
    """Fill an empty database."""
    draws = random.Random(137)  # noqa: S311  # drawn data, no secret
    midnight = datetime.fromisoformat(db.today)

    def day(days: float) -> str:
        return (midnight + timedelta(days=days)).date().isoformat()

    def moment(days: float, minutes: int) -> str:
        return (midnight + timedelta(days=days, minutes=minutes)).isoformat() + "Z"

    def draw(low: int, high: int) -> int:
        return low + int(draws.random() * (high + 1 - low))

    functions = {
        "day": day,
        "moment": moment,
        "draw": draw,
        "pick": lambda *values: values[draw(0, len(values) - 1)],
        "first_name": lambda: draws.choice(_FIRST_NAMES),
        "last_name": lambda: draws.choice(_LAST_NAMES),
        "phone": lambda: f"+49 30 555{draw(0, 9999):04}",
    }
    db.run_script(Path(__file__).with_name("seed.sql").read_text(encoding="utf-8"), functions)
