"""Near-duplicates as users ask for them: pairs in order, groups, leaks, codes."""

import numpy as np
import pytest

import manyclass as mc


@pytest.fixture(scope="module")
def rows():
    """Rows of which 0, 40 and 41 are copies, and 7 and 9."""
    X = np.random.default_rng(0).standard_normal((60, 32), np.float32)
    X[40], X[41], X[9] = 1.01 * X[0], X[0] + 0.05, X[7] + 0.02
    return X


def test_pairs_come_the_most_similar_first_and_groups_join_them(rows):
    found = mc.audit.duplicates(rows, threshold=0.98)
    assert found.pairs[0].tolist() == [0, 40]
    assert found.similarities[0] == pytest.approx(1)
    assert (np.diff(found.similarities) <= 0).all()
    assert [group.tolist() for group in found.groups()] == [[0, 40, 41], [7, 9]]
    assert found.redundant().tolist() == [9, 40, 41]


def test_leaks_are_pairs_between_two_sets(rows):
    tests = np.stack([rows[5] * 3, np.random.default_rng(5).standard_normal(32), rows[59]]).astype(np.float32)
    found = mc.audit.duplicates(rows, tests)
    assert sorted(map(tuple, found.pairs.tolist())) == [(0, 5), (2, 59)]
    assert [group.tolist() for group in found.groups()] == [[0, 3 + 5], [2, 3 + 59]]


def test_threads_do_not_change_a_bit(rows):
    found = []
    for n_threads in (1, 2):
        with mc.threads(n_threads):
            found.append(mc.audit.duplicates(rows, threshold=0.3))
    assert found[0].pairs.tobytes() == found[1].pairs.tobytes()
    assert found[0].similarities.tobytes() == found[1].similarities.tobytes()


def test_codes_are_compared_as_they_are_decoded(rows):
    codes = mc.ScalarQuantizer().fit(rows).encode(rows)
    decoded = codes.rows(slice(None))
    for threshold in (0.5, 0.98):
        found, wanted = (mc.audit.duplicates(one, threshold=threshold).pairs for one in (codes, decoded))
        assert found.tolist() == wanted.tolist()


def test_nothing_is_found_where_nothing_is():
    found = mc.audit.duplicates(np.eye(8))
    assert len(found) == 0
    assert found.groups() == []
    assert found.redundant().tolist() == []


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"threshold": 0}, "threshold must be a cosine above 0"),
        ({"threshold": 1.5}, "threshold must be a cosine above 0"),
        ({"limit": 0}, "limit must be a whole number"),
        ({"Y": np.ones((2, 3))}, "Y must have the 8 columns of X; got 3"),
    ],
)
def test_wrong_settings_are_one_sentence(arguments, words):
    with pytest.raises(ValueError, match=words):
        mc.audit.duplicates(np.eye(8), **arguments)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_numbers_that_are_not_finite_are_refused(rows, bad):
    spoiled = rows.copy()
    spoiled[3, 2] = bad
    for args, name in (((spoiled,), "X"), ((rows, spoiled), "Y")):
        with pytest.raises(ValueError, match=f"{name} must hold finite numbers; row 3"):
            mc.audit.duplicates(*args)
