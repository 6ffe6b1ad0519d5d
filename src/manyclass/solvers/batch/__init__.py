"""Batch solvers: every step sees all rows, and a duality gap proves how near the optimum a solution is.

Read `solve` first, then `factored`.

- `solve`: `solve`, and the registry of the solvers with what each needs of a penalty
- `solution`: `Solution` and `Status`, the run that keeps the best point of a solver, and when that is solved
- `points`: the weights W, dense or as a product of two factors, and b
- `null_model`: the best b for W = 0, and `alpha_max`, the strength from which on that is the optimum
- `duality`: the duality gap, by which all solvers stop
- `factored`, `factored_lbfgs`: trace norm, by L-BFGS on the factors of W (Burer and Monteiro)
- `fista`: any penalty with a proximal step (Beck and Teboulle)
- `rank_one`, `stochastic_rank_one`: any gauge, by adding atoms (Harchaoui et al.)
- `ridge_lbfgs`: a ridge alone, or no penalty, with two products a step
- `preconditioner`: coordinates in which such a problem is about round, by the covariance of the rows where that pays
- `intercept`: the best b for known scores, before a duality gap
- `lbfgs`: L-BFGS for any smooth function, one step at a time
- `path`: many strengths of one penalty, each solved from its neighbors, with checkpoints
"""

from manyclass._core.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(
    __name__,
    {
        "Needs": "solve",
        "PathCheckpoint": "path",
        "SOLVERS": "solve",
        "Solution": "solution",
        "Solver": "solve",
        "Status": "solution",
        "alpha_max": "null_model",
        "duality_gap": "duality",
        "fit_null_model": "null_model",
        "follow_path": "path",
        "ridge_max": "path",
    },
)
