"""The three protocols: what is right, what is ignored, and which truth they are not for."""

import numpy as np
import pytest

from manyclass.evaluation import Query
from manyclass.evaluation.protocols import relevance


def query(row=None, easy=(1, 2), hard=(5,), junk=(7,)):
    return Query("q", *(np.array(rows, int) for rows in (easy, hard, junk)), row=row)


@pytest.mark.parametrize(
    ("asked", "protocol", "difficulty", "positives", "junk"),
    [
        (query(row=9), "holidays", None, [1, 2, 5], [7, 9]),
        (query(row=2), "holidays", None, [1, 5], [2, 7]),
        (query(row=7), "holidays", None, [1, 2, 5], [7]),
        (query(row=2), "oxford", None, [1, 2, 5], [7]),
        (query(), "revisited", None, [1, 2, 5], [7]),
        (query(), "revisited", "medium", [1, 2, 5], [7]),
        (query(), "revisited", "easy", [1, 2], [5, 7]),
        (query(), "revisited", "hard", [5], [1, 2, 7]),
    ],
)
def test_what_is_right_and_what_is_ignored(asked, protocol, difficulty, positives, junk):
    found = relevance(asked, protocol, difficulty)
    assert found.positives.tolist() == positives
    assert found.junk.tolist() == junk


@pytest.mark.parametrize(
    ("asked", "protocol", "difficulty", "sentence"),
    [
        (query(), "holidays", None, "'holidays' ignores a query that is in the database; 'q' has no row"),
        (query(), "oxford", None, "'oxford' counts the query among its positives; 'q' is not there"),
        (query(row=9), "oxford", None, "'oxford' counts the query among its positives; 'q' is not there"),
        (query(row=7), "oxford", None, "'oxford' counts the query among its positives; 'q' is not there"),
        (query(row=9), "revisited", None, "'revisited' is for queries outside the database; 'q' is its row 9"),
        (query(), "revisited", "harder", "difficulty must be 'easy', 'medium' or 'hard'; got 'harder'"),
        (query(row=9), "holidays", "easy", "difficulty belongs to the protocol 'revisited'; got 'easy'"),
        (query(), "trec", None, "protocol must be 'holidays', 'oxford' or 'revisited'; got 'trec'"),
    ],
)
def test_a_protocol_refuses_truth_that_it_is_not_for(asked, protocol, difficulty, sentence):
    with pytest.raises(ValueError, match=sentence):
        relevance(asked, protocol, difficulty)
