"""Catalogs of any size."""

from __future__ import annotations

from codemode.catalog.catalog import Catalog
from codemode.testing import make_tool


def catalog(size: int) -> Catalog:
    schema = {"type": "string", "description": "Which page of the list to give back"}
    return Catalog(make_tool(f"api.group.tool_{n}", {"page": schema}, summary="List things") for n in range(size))
