"""What counts as right and what is left out, by the rules of the well-known retrieval sets."""

from typing import Literal, NamedTuple, get_args

import numpy as np

from manyclass.evaluation.ground_truth import Query, Rows

Protocol = Literal["holidays", "oxford", "revisited"]

Difficulty = Literal["easy", "medium", "hard"]


class Relevance(NamedTuple):
    """Rows of the database that are right for a query, and rows that are taken out of the ranking."""

    positives: Rows
    junk: Rows


def relevance(query: Query, protocol: Protocol, difficulty: Difficulty | None = None) -> Relevance:
    """Right and ignored rows of a query.

    - holidays: the query is in the database, and is ignored;
    - oxford: the query is in the database, and counts as right;
    - revisited: the query is not in the database. Easy: easy ones are right, hard ones ignored; medium (the default):
      both are right; hard: hard ones are right, easy ones ignored.

    >>> query = Query("q", easy=np.array([1, 4]), junk=np.array([2]), row=4)
    >>> relevance(query, "holidays").positives, relevance(query, "oxford").positives
    (array([1]), array([1, 4]))
    """
    if protocol not in get_args(Protocol):
        raise ValueError(f"protocol must be 'holidays', 'oxford' or 'revisited'; got {protocol!r}")
    if protocol == "revisited":
        return _revisited(query, difficulty)
    if difficulty is not None:
        raise ValueError(f"difficulty belongs to the protocol 'revisited'; got {difficulty!r} with {protocol!r}")
    return _holidays(query) if protocol == "holidays" else _oxford(query)


def _holidays(query: Query) -> Relevance:
    if query.row is None:
        raise ValueError(
            f"protocol 'holidays' ignores a query that is in the database; {query.name!r} has no row there "
            "('revisited' is for queries outside it)"
        )
    return Relevance(np.setdiff1d(query.positives, [query.row]), np.union1d(query.junk, [query.row]))


def _oxford(query: Query) -> Relevance:
    if query.row is None or query.row not in query.positives:
        raise ValueError(
            f"protocol 'oxford' counts the query among its positives; {query.name!r} is not there "
            "('holidays' ignores the query, 'revisited' is for queries outside the database)"
        )
    return Relevance(query.positives, query.junk)


def _revisited(query: Query, difficulty: Difficulty | None) -> Relevance:
    if query.row is not None:
        raise ValueError(
            f"protocol 'revisited' is for queries outside the database; {query.name!r} is its row {query.row} "
            "('holidays' ignores the query, 'oxford' counts it)"
        )
    rules = {
        "easy": (query.easy, np.union1d(query.junk, query.hard)),
        "medium": (query.positives, query.junk),
        "hard": (query.hard, np.union1d(query.junk, query.easy)),
    }
    if (chosen := difficulty or "medium") not in rules:
        raise ValueError(f"difficulty must be 'easy', 'medium' or 'hard'; got {difficulty!r}")
    return Relevance(*rules[chosen])
