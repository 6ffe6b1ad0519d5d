import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyclass.datasets import draw_splits
from manyclass.datasets.splits import split_classes


@given(
    st.lists(st.integers(0, 6), min_size=1, max_size=80),
    st.floats(0.01, 0.99),
    st.integers(0, 5),
)
def test_every_class_with_two_rows_is_in_both_parts_and_shares_are_rounded(labels, fraction, seed):
    y = np.array(labels)
    parts = draw_splits(y, fraction, seed)
    for label in np.unique(y):
        n, tested = np.sum(y == label), np.sum(parts[y == label] == "test")
        assert set(parts) <= {"train", "test"}
        assert tested == (0 if n == 1 else np.clip(round(fraction * n), 1, n - 1))


def test_the_seed_decides_and_nothing_else():
    y = np.repeat(["a", "b"], 50)
    assert (draw_splits(y, 0.2, 1) == draw_splits(y, 0.2, 1)).all()
    assert (draw_splits(y, 0.2, 1) != draw_splits(y, 0.2, 2)).any()


@pytest.mark.parametrize("fraction", [0.0, 1.0, -0.5, float("nan")])
def test_a_fraction_leaves_something_for_both(fraction):
    with pytest.raises(ValueError, match=r"fraction must be between 0 and 1; got"):
        draw_splits([0, 0, 1], fraction)


def test_labels_are_a_column():
    with pytest.raises(ValueError, match=r"y must have shape \(n,\); got \(2, 2\)"):
        draw_splits([[0, 1], [1, 0]])


@given(st.lists(st.integers(0, 9), min_size=1, max_size=60), st.integers(0, 5))
def test_halves_of_classes_have_no_class_in_common(labels, seed):
    y = np.array(labels)
    first = split_classes(y, seed)
    assert not set(y[first]) & set(y[~first])
    several = [label for label in set(labels) if labels.count(label) > 1]
    assert len(set(y[first])) == (len(several) + 1) // 2
