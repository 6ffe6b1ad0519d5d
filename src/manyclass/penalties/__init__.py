"""Penalties: functions of the weights W (d, k), which never see X.

- `penalty`: what solvers ask of one: `Penalty`; `Gauge`, a norm made of atoms
- `ridge`: `Ridge`, the square, around zero or a center, and its sum with a gauge
- `norms`: the trace, L1 and group norms, and the registry `PENALTIES`
- `smoothed`: penalties without corners, for `manyclass.solvers.smooth`
"""

from manyclass._core.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(
    __name__,
    {
        "Gauge": "penalty",
        "HalfSquare": "smoothed",
        "Penalty": "penalty",
        "SmoothPenalty": "smoothed",
        "SmoothedTraceNorm": "smoothed",
    },
)
