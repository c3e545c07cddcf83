"""What the tests of sources share."""

from __future__ import annotations

from tests.unit.codemode.transports.conftest import recorder

__all__ = ["recorder"]
