"""Solvers by the names that users give them, and the penalties that each can do with."""

from collections.abc import Callable
from functools import partial

from manyclass.penalties.penalty import Penalty
from manyclass.solvers.rank_one import PUBLISHED, rank_one
from manyclass.solvers.solve import Solver
from manyclass.solvers.stochastic_atoms import stochastic_atoms

NAMES = ("auto", "factored", "fista", "rank_one", "published", "stochastic", "ridge")
_OF_GAUGES = ("factored", "rank_one", "published", "stochastic")


def named_solver(name: str, penalty: Penalty, seed: Callable[[], int]) -> str | Solver:
    """What `solve` takes for a name; refuses a penalty that the solver cannot minimize."""
    if name not in NAMES:
        raise ValueError(f"solver must be one of {', '.join(NAMES)}; got {name!r}")
    gauge, _ = penalty.parts()
    if name in _OF_GAUGES and gauge is None:
        raise ValueError(f"solver {name!r} needs a penalty with a gauge, such as a trace norm; got {penalty}")
    if name == "factored" and gauge is not None and not gauge.spectral:
        raise ValueError(f"solver 'factored' needs a trace norm; got {penalty}; use 'fista'")
    if name == "ridge" and gauge is not None and gauge.strength > 0:
        raise ValueError(f"solver 'ridge' needs a penalty without a gauge; got {penalty}; use 'auto'")
    if name == "published":
        return partial(rank_one, settings=PUBLISHED)
    return partial(stochastic_atoms, random_state=seed()) if name == "stochastic" else name
