"""Penalties: functions of the weights W (d, k), which never see X.

- `penalty`: `Penalty`, what solvers ask of one, and `Ridge`, the square
- `norms`: `Gauge`, a norm made of atoms, with the trace, L1 and group norms; sums; and the registry `PENALTIES`
- `smoothed`: penalties without corners, for `manyclass.solvers.smooth`
"""

from manyclass._core.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(
    __name__,
    {
        "Gauge": "norms",
        "GroupNorm": "norms",
        "HalfSquare": "smoothed",
        "L1Norm": "norms",
        "Penalty": "penalty",
        "Ridge": "penalty",
        "SmoothPenalty": "smoothed",
        "SmoothedTraceNorm": "smoothed",
        "TraceNorm": "norms",
    },
)
