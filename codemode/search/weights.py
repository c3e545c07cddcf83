"""The numbers that ranking turns on. How each was found, and what it is worth: docs/search.md."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Weights:
    """BM25F: per field a weight and how much its length counts (`length_b`), in the order of `documents.Field`."""

    fields: tuple[float, ...] = (2.0, 1.5, 1.0, 1.0, 0.7, 0.6, 1.0)
    length_b: tuple[float, ...] = (0.3, 0.3, 0.6, 0.7, 0.7, 0.75, 0.6)
    saturation_k1: float = 1.5
    synonym: float = 0.2
    abbreviation: float = 0.5
    typo: float = 0.7
    corrections: int = 3
