"""Known against unknown: areas and rates against pairs that are counted one by one, and scikit-learn."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from manyclass.evaluation import auroc, false_positive_rate

SCORES = st.lists(st.integers(-3, 3), min_size=1, max_size=25)


@settings(deadline=None)
@given(high=SCORES, low=SCORES)
def test_the_area_is_the_share_of_pairs_in_the_right_order(high, low):
    pairs = [(a > b) + 0.5 * (a == b) for a in high for b in low]
    assert auroc(high, low) == pytest.approx(np.mean(pairs))
    labels = np.repeat([1, 0], [len(high), len(low)])
    assert auroc(high, low) == pytest.approx(roc_auc_score(labels, np.concatenate([high, low])))


@settings(deadline=None)
@given(high=SCORES, low=SCORES, kept=st.sampled_from([0.5, 0.9, 0.95]))
def test_the_threshold_is_the_highest_that_keeps_so_many(high, low, kept):
    good = [t for t in high if np.mean(np.array(high) >= t) >= kept - 1e-12]
    assert false_positive_rate(high, low, kept) == np.mean(np.array(low) >= max(good))


def test_nineteen_of_twenty_are_ninety_five_percent():
    assert false_positive_rate(np.arange(20), [0.5, 1.0], 0.95) == 0.5


@pytest.mark.parametrize("values", [[], [np.nan], [[1.0]]])
def test_what_holds_no_scores_is_refused(values):
    with pytest.raises(ValueError, match="negatives must be a vector"):
        auroc([1.0], values)
    with pytest.raises(ValueError, match="positives must be a vector"):
        false_positive_rate(values, [1.0])
