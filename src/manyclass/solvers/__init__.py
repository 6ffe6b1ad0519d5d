"""Solvers: what minimizes a mean loss plus a penalty.

- `problem`: `Problem` and `Objective`, the only place where data, losses and penalties meet
- `row_sums`: all that batch solvers ask of the rows, with `weighted_loss`, a loss over rows; `row_shards`: the same of
  rows that workers hold, a range each
- `batch`: solvers that see all rows in every step, and prove how near the optimum they are by a duality gap
- `sgd`: stochastic gradient descent, one example or a small batch at a time
- `smooth`: smooth penalties of rows that fit into memory, by L-BFGS with a duality gap
- `closed_form`: ridge regression of classes, every strength from one factorization; `class_moments` has the sums over
  rows that it needs, block by block of `row_blocks`, `leave_one_out` chooses the strength, and `fixed_strength` leaves
  out every row for the one that was chosen
- `imprinting`: machines of new classes from a few rows, beside machines that are there
- `conjugate_gradient`: least squares of classes, stopped early; where stochastic gradient descent may begin
- `shortlist`: the best of very many classes, without all of their scores
- `conic`: the trace norm with the exact hinge as a conic program, for a few hundred rows
"""

from manyclass._core.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(
    __name__,
    {
        "Needs": "batch.solve",
        "Objective": "problem",
        "Problem": "problem",
        "Solution": "batch.solution",
        "Solver": "batch.solve",
        "Status": "batch.solution",
        "StochasticObjective": "sgd.objectives",
        "alpha_max": "batch.null_model",
        "solve": "batch.solve",
    },
    ("batch", "sgd"),
)
