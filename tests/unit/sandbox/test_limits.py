from __future__ import annotations

from math import inf, nan
from typing import Any

import pytest

from sandbox import Limits


@pytest.mark.parametrize("value", ["5", None, -1, nan])
def test_a_limit_that_is_no_number_is_refused_by_its_name(value: Any) -> None:
    with pytest.raises(ValueError, match=rf"^wall_s={value!r}: a number is expected, 0 or more$"):
        Limits(wall_s=value)


def test_a_limit_may_be_none_at_all() -> None:
    assert Limits(calls=0, wall_s=inf).calls == 0
