import numpy as np
import pytest

from manyclass.data.product_quantizer import ProductQuantizer
from manyclass.data.quantizer import restore_quantizer
from manyclass.data.scalar_quantizer import ScalarQuantizer

X = np.random.default_rng(0).normal(size=(50, 6)).astype(np.float32)


@pytest.mark.parametrize("quantizer", [ProductQuantizer(block=2, n_centroids=8), ScalarQuantizer(bits=4)])
def test_a_quantizer_comes_back_from_its_kind_and_state(quantizer):
    quantizer.fit(X)
    again = restore_quantizer(quantizer.kind, *quantizer.state())
    np.testing.assert_array_equal(again.encode(X).codes, quantizer.encode(X).codes)


def test_an_unknown_kind_is_refused_with_those_that_are_known():
    with pytest.raises(ValueError, match=r"must be one of \['product', 'scalar'\]; got 'pickle'"):
        restore_quantizer("pickle", {}, {})
