from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from codemode.search.ranking.ranking import by_shares

_SIGNALLING_NAN = np.uint32(0x7FA00001)


def _leave_nan_on_the_stack() -> None:
    """Leave NaN on the stack of BLAS, which copies the strided vector there."""
    matrix, vector = (np.full(shape, _SIGNALLING_NAN).view(np.float32) for shape in ((8, 256), (256, 3)))
    with np.errstate(invalid="ignore"):
        matrix.dot(vector[:, 1])


def test_memory_beside_the_matrix_is_not_read() -> None:
    for candidates, groups in product(range(1, 12), repeat=2):
        answers, shares = np.full((candidates, groups), 0.5, np.float32), np.full(groups, 1 / groups, np.float32)

        _leave_nan_on_the_stack()
        covered = by_shares(answers, shares)

        assert covered == pytest.approx(0.5), (candidates, groups)
