"""Imports Ray before the tests do: what it warns of then is not ours."""

from __future__ import annotations

import warnings
from contextlib import suppress

with suppress(ImportError), warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import ray.serve  # noqa: F401
