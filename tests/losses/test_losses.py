"""Every loss keeps the contract."""

import numpy as np
import pytest
from contracts.loss import CHECKS, every_loss
from hypothesis import given
from hypothesis import strategies as st


@every_loss
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__.removeprefix("check_"))
@given(n=st.integers(1, 8), k=st.integers(1, 7), seed=st.integers(0, 2**32 - 1))
def test_contract(loss, check, n, k, seed):
    check(loss, np.random.default_rng(seed), n, k)
