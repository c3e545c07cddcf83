"""Real documents with random parts broken: a clear error or all of the rest, and nothing else changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from codemode.sources.documents.parse import parse_document
from tests.documents import published
from tests.security.fuzz.documents import mutate

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.mark.parametrize(("name", "rounds"), [("notion.json", 150), ("docker-engine.yaml", 50), ("slack.json", 20)])
def test_a_broken_part_costs_no_other(name: str, rounds: int, shared_data: Callable[[str], Path]) -> None:
    text = published(shared_data, name)
    mutate(parse_document(text), rounds, name)
