"""Penalties as names and strengths, and back."""

from functools import reduce
from operator import add
from typing import Any

from manyclass.penalties.gauge import Gauge
from manyclass.penalties.group import GroupNorm
from manyclass.penalties.l1 import L1Norm
from manyclass.penalties.penalty import Penalty
from manyclass.penalties.ridge import Ridge
from manyclass.penalties.trace import TraceNorm

PENALTIES: dict[str, Any] = {kind.__name__: kind for kind in (GroupNorm, L1Norm, Ridge, TraceNorm)}


def check_penalty(penalty: Any) -> Penalty:
    """The penalty, if it is one."""
    if not isinstance(penalty, Penalty):
        raise ValueError(
            f"penalty must be a Penalty, such as TraceNorm(1e-3) + Ridge(1e-5); got {type(penalty).__name__}"
        )
    return penalty


def described_penalty(penalty: Penalty) -> dict[str, float]:
    """Strengths by name.

    >>> described_penalty(TraceNorm(0.5) + Ridge(0.25))
    {'TraceNorm': 0.5, 'Ridge': 0.25}
    """
    gauge, ridge = penalty.parts()
    parts: list[Gauge | Ridge] = [ridge] if gauge is None else [gauge, ridge] if ridge.strength else [gauge]
    for part in parts:
        if PENALTIES.get(type(part).__name__) is not type(part):
            raise TypeError(f"a penalty must be made of {', '.join(PENALTIES)} to be saved; got {penalty}")
    return {type(part).__name__: part.strength for part in parts}


def penalty_of(strengths: dict[str, float]) -> Penalty:
    """The penalty that was described so."""
    parts: list[Penalty] = [PENALTIES[name](strength) for name, strength in strengths.items()]
    return reduce(add, parts)
