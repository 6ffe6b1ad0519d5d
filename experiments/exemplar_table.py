"""Table 1 of Rezende et al. (CVPR 2017) in form: exemplar machines against features, whitening and LDA, by mAP."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import manyclass as mc
from experiments.exemplar_search import Found, Method, found, with_negatives
from experiments.results import Results
from experiments.retrieval_sources import Search, available

RANKS = (16, 32)
NEGATIVES = 1000
WHERE = (
    ("DVD covers", "patches"),
    ("DVD covers", "gradients"),
    ("corridor", "colors"),
    ("corridor", "gradients"),
    ("Omniglot", "gradients"),
    ("Omniglot", "thumbnails"),
)
# The linear machine's default grid has 15 values: three are enough for a machine that must be trained for each image.
ESVM = {"regularization": [1e-4, 1e-3, 1e-2]}


def _kernel(kernel: str) -> Any:
    return mc.KernelSquareLossExemplar(kernel=kernel, n_background=1, random_state=0)


METHODS: dict[str, Callable[[int], Method]] = {
    "features": lambda d: Method(None),
    "whitened PCA": lambda d: Method(
        mc.WhitenedPCA(n_background=1), {"n_components": [p for p in (32, 64, 128, 256) if 2 * p <= d]}
    ),
    "LDA": lambda d: Method(mc.ExemplarLDA(n_background=1), {}),
    "ESVM": lambda d: Method(mc.ExemplarSVM(n_steps=20_000, n_background=1, random_state=0), ESVM),
    "SLEM": lambda d: Method(mc.SquareLossExemplar(n_background=1)),
    "Gaussian SLEM": lambda d: Method(_kernel("rbf")),
    "polynomial SLEM": lambda d: Method(_kernel("poly")),
}


def run(folder: Path | None) -> Results:
    """The page."""
    results = Results("exemplar_table", "Exemplar machines as features for search")
    results.say(f"""Mean average precision (by trapezoids, as the official programs have it) in percent. Every image
        of the database and the queries is turned into its machine against {NEGATIVES} negatives that show nothing of
        what is searched. Settings (the strength of regularization, gamma, the number of components) are chosen on one
        half of the queries, and the other half is reported; kernel machines of rank {RANKS[0]} and {RANKS[1]}, by
        kernel PCA, have the settings of the full one. ± is half the 95 % interval of the difference from LDA, by a
        paired bootstrap over queries.""")
    sources = available(folder)
    some = {where: sources[where] for where in WHERE if where in sources} or sources
    tables = {where: _compare(with_negatives(search(), NEGATIVES)) for where, search in some.items()}
    columns = list(next(iter(tables.values())))
    rows = [[*where, *(_cell(table, name) for name in columns)] for where, table in tables.items()]
    results.table("Mean average precision", ["data", "features", *columns], rows)
    results.say(_verdict(tables))
    results.table("Seconds", ["data", "features", *(f"{name}, offline + an image" for name in _TIMED)], _times(tables))
    results.say("""Seconds of one processor: what is done once for the negatives, and the time for one image. Where the
        baseline, whitening or LDA is as good, it is the one to take.""")
    return results


def _compare(search: Search) -> dict[str, Found]:
    d = search.queries.shape[1]
    table = {name: found(search, method(d)) for name, method in METHODS.items()}
    for name in ("Gaussian SLEM", "polynomial SLEM"):
        for rank in RANKS:
            lower = mc.KernelSquareLossExemplar(**{**table[name].encoder.get_params(), "rank": rank})
            table[f"{name}, rank {rank}"] = found(search, Method(lower.set_params(factorization="kpca"), {}))
    return table


def _cell(table: dict[str, Found], name: str) -> str:
    one, lda = table[name], table["LDA"]
    if name == "LDA":
        return f"{100 * one.mean:.1f}"
    compared = mc.evaluation.paired_bootstrap(one.precisions, lda.precisions, random_state=0)
    return f"{100 * one.mean:.1f} ± {50 * (compared.high - compared.low):.1f}"


def _verdict(tables: dict[tuple[str, str], dict[str, Found]]) -> str:
    said = []
    for where, table in tables.items():
        plain, machine = (_best(table, names) for names in (PLAIN, [name for name in table if name not in PLAIN]))
        pair = (table[name].precisions for name in (machine, plain))
        gain, low, high, _ = mc.evaluation.paired_bootstrap(*pair, random_state=0)
        sure = "more than chance" if low > 0 or high < 0 else "within chance"
        said.append(f"{', '.join(where)}: {machine} against {plain} {100 * gain:+.1f} ({sure})")
    return f"The best machine against the best without one, both chosen by this table: {'; '.join(said)}."


def _best(table: dict[str, Found], names: Iterable[str]) -> str:
    return max(names, key=lambda name: table[name].mean)


PLAIN = ("features", "whitened PCA", "LDA")
_TIMED = ("LDA", "ESVM", "SLEM", "Gaussian SLEM")


def _times(tables: dict[tuple[str, str], dict[str, Found]]) -> list[list[str]]:
    def cell(one: Found) -> str:
        return f"{one.offline:.2f} + {one.online:.1e}"

    return [[*where, *(cell(table[name]) for name in _TIMED)] for where, table in tables.items()]
