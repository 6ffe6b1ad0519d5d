"""Figure 2 of Rezende et al. (CVPR 2017): kernel PCA against incomplete Cholesky factors, by rank."""

from pathlib import Path

import numpy as np

import manyclass as mc
from experiments.exemplar_search import NEGATIVES, Method, found, precisions, shown, with_negatives
from experiments.figures import curve, finish, panels
from experiments.results import Results
from experiments.retrieval_sources import available

RANKS = (4, 8, 16, 32, 64, 128, 256)
WAYS = {"kernel PCA": "kpca", "incomplete Cholesky": "incomplete_cholesky"}
WHERE = (("DVD covers", "patches"), ("corridor", "gradients"), ("Omniglot", "gradients"), ("glyphs", "gradients"))


def run(folder: Path | None) -> Results:
    """The page: one chart for each search, at most three."""
    results = Results("exemplar_rank", "Kernel machines of low rank")
    sources = available(folder)
    chosen = [where for where in WHERE if where in sources][:3]
    results.say(f"""Gaussian machines against {NEGATIVES} negatives, with the settings that are best at full rank on one
        half of the queries: mean average precision of the other half, by the rank of the factor of the negatives'
        Gram matrix, and the part of its trace that the factor leaves out.""")
    drawn, charts = panels([data for data, _ in chosen], "rank", "mAP, %")
    for chart, where in zip(charts, chosen, strict=True):
        search = with_negatives(sources[where](), NEGATIVES)
        full = found(search, Method(mc.KernelSquareLossExemplar(kernel="rbf", n_background=1, random_state=0)))
        _, second = search.halves()
        rows = []
        for position, (name, factorization) in enumerate(WAYS.items()):
            settings = {**full.encoder.get_params(), "factorization": factorization}
            fits = [mc.KernelSquareLossExemplar(**{**settings, "rank": r}).fit(search.negatives) for r in RANKS]
            values = [float(np.nanmean(precisions(second, fitted))) for fitted in fits]
            curve(chart, position, RANKS, values, name)
            rows += [[name, *shown(values)], [f"{name}, left out", *shown(fitted.residual_ for fitted in fits)]]
        curve(chart, 2, [RANKS[0], RANKS[-1]], [full.mean] * 2, "full", linestyle="--", marker="")
        results.table(f"{where[0]}, {where[1]}; full rank: {100 * full.mean:.1f}", ["%", *map(str, RANKS)], rows)
    results.figure(finish(drawn, charts), "precision against rank, kernel PCA and incomplete Cholesky")
    results.say("""Kernel PCA leaves out least for its rank, and needs the whole Gram matrix; the incomplete factor
        never forms it. The paper finds kernel PCA ahead at equal rank, and precision growing with the rank.""")
    return results
