"""What the tests of sources share."""

from __future__ import annotations

from tests.codemode.transports.conftest import recorder

__all__ = ["recorder"]
