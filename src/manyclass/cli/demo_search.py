"""The search of the demo: what `manyclass encode --tune --evaluate` gives for kinds that were never learned."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from manyclass.cli.encoding_methods import chosen_methods
from manyclass.cli.gallery_plan import Plan, built

_METHODS = "slem,kernel-slem,lda,whitening,none"
_FALSE_MATCH = 0.05


def compare_searches(
    others: Path, world: Path, out: Path, seed: int, quiet: bool, tell: Callable[[str], None]
) -> list[dict[str, Any]]:
    """Methods by mean average precision, with intervals; settings are chosen on kinds apart from those reported."""
    words = ["encode", str(others), "--negatives", str(world), "-o", str(out), "--method", _METHODS]
    tell(f"manyclass {' '.join(words)} --tune --evaluate{f' --seed {seed}' if seed else ''}")
    methods = chosen_methods(_METHODS, seed, {})
    plan = Plan(others, out, world, methods, None, _FALSE_MATCH, None, None, None, seed)
    result = built(plan, tune=True, evaluate=True, overwrite=True, tell=tell, quiet=quiet)
    found: list[dict[str, Any]] = result["evaluation"]["methods"]
    return found
