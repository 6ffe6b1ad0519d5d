"""Draws of long tails and of few examples, and pages that are made of them."""

import numpy as np
import pytest

from experiments import few_shot, long_tail
from experiments.few_shot import Source
from experiments.index import write_index
from experiments.long_tail import Tail


def rows(k=6, each=40, d=12):
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(k), each)
    return (rng.normal(size=(k, d))[y] + rng.normal(size=(len(y), d))).astype(np.float32), y


def test_sizes_go_from_the_largest_to_the_smallest_and_no_row_is_in_both():
    X, y = rows()
    learn, test, sizes = long_tail.drawn(Tail(X, y, 30, 3), 1)
    assert not set(learn) & set(test)
    np.testing.assert_array_equal(np.bincount(y[learn]), sizes)
    assert (sizes.max(), sizes.min()) == (30, 3)
    np.testing.assert_array_equal(np.bincount(y[test]), 10)


def test_examples_others_and_tests_are_different_rows_and_fewer_are_the_first_of_more():
    X, y = rows()
    source = Source(X, y, 10)
    assert source.shots() == (1, 2, 4, 8, 16)
    others, pool, test = few_shot.drawn(source, 0)
    assert len({*others, *pool.ravel(), *test}) == len(others) + pool.size + len(test)
    assert pool.shape == (6, 16)
    assert (y[pool] == np.arange(6)[:, None]).all()


@pytest.mark.parametrize("module", [long_tail, few_shot])
def test_a_page_has_a_table_and_verdicts_and_the_index_reads_it(module, monkeypatch, tmp_path):
    made = {"A": lambda: Tail(*rows(), 20, 3)} if module is long_tail else {"A": lambda: Source(*rows(), 10)}
    monkeypatch.setattr(module, "tails" if module is long_tail else "sources", lambda folder: made)
    module.run(tmp_path, range(2)).write(tmp_path)
    text = (tmp_path / f"{module.__name__.split('.')[-1]}.md").read_text()
    assert "produced" in text or "Not told" in text
    assert "A from " in write_index(tmp_path).read_text()
