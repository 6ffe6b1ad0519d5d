"""X W and X' R on codes, against NumPy on the decoded matrix and against decoding tile by tile."""

import tempfile
from functools import partial

import numpy as np

import manyclass as mc
from benchmarks.page import Page
from benchmarks.timing import all_threads, best_of, with_threads
from manyclass.data.matrix import matmat, rmatmat

N, D = 20_000, 4_096


def quantized(block: int) -> mc.QuantizedMatrix:
    """Random codes in random codebooks: the time does not depend on what they mean."""
    rng = np.random.default_rng(0)
    books = rng.standard_normal((D // block, 256, block), dtype=np.float32)
    settings = {"block": block, "n_centroids": 256, "n_features": D, "rotation": None}
    quantizer = mc.ProductQuantizer.from_state(settings, {"codebooks": books})
    return quantizer.matrix(rng.integers(0, 256, (N, D // block), dtype=np.uint8))


def factors(k: int) -> tuple[np.ndarray, np.ndarray]:
    """W (d, k) and R (n, k)."""
    rng = np.random.default_rng(k)
    return rng.standard_normal((D, k), dtype=np.float32), rng.standard_normal((N, k), dtype=np.float32)


def against_numpy(page: Page, rounds: int) -> None:
    """The decoded matrix at hand, all in memory: the most that a dense product can do."""
    rows = []
    for block in (16, 8, 4):
        X = quantized(block)
        dense = X.toarray()
        for k in (1, 8, 128, 1000):
            W, R = factors(k)
            with all_threads(1):
                seconds = best_of(
                    rounds if k < 1000 else 2,
                    {
                        "XW": partial(X.matmat, W),
                        "dense XW": partial(np.matmul, dense, W),
                        "X'R": partial(X.rmatmat, R),
                        "dense X'R": partial(np.matmul, dense.T, R),
                    },
                )
            rows.append([str(block), str(k), *_pair(seconds, "XW", block, k), *_pair(seconds, "X'R", block, k)])
    page.table(
        f"Against NumPy float32 on the decoded matrix, {N} x {D}, one thread",
        ["block", "columns", "X W", "NumPy", "ratio", "of the limit", "X' R", "NumPy", "ratio", "of the limit"],
        rows,
    )


def _pair(seconds: dict[str, float], name: str, block: int, k: int) -> list[str]:
    ours, dense = seconds[name], seconds[f"dense {name}"]
    # One addition for every `block` multiplications of the dense product.
    return [f"{1e3 * ours:.1f} ms", f"{1e3 * dense:.1f} ms", f"{dense / ours:.2f}", f"{dense / ours / block:.0%}"]


def against_decoding(page: Page, rounds: int) -> None:
    """What one would do without look-up tables: decode some rows, multiply, go on."""
    rows = []
    for block in (16, 8, 4):
        X = quantized(block)
        for k in (1, 8, 128, 1000):
            W, R = factors(k)
            with all_threads(1):
                seconds = best_of(
                    rounds if k < 1000 else 2,
                    {
                        "XW": partial(X.matmat, W),
                        "tiles XW": partial(matmat, X._rows, X.shape, W),
                        "X'R": partial(X.rmatmat, R),
                        "tiles X'R": partial(rmatmat, X._rows, X.shape, R),
                    },
                )
            ratios = [seconds[f"tiles {name}"] / seconds[name] for name in ("XW", "X'R")]
            rows.append([str(block), str(k), *(f"{ratio:.2f}" for ratio in ratios)])
    page.table(
        f"Against decoding a tile and calling BLAS, {N} x {D}, one thread, ratio of times",
        ["block", "columns", "X W", "X' R"],
        rows,
    )


def two_threads(page: Page, rounds: int) -> None:
    """The same product with one thread and with two."""
    rows = []
    for block in (16, 8, 4):
        X = quantized(block)
        for k in (1, 8, 128, 1000):
            W, R = factors(k)
            products = {"XW": partial(X.matmat, W), "X'R": partial(X.rmatmat, R)}
            contenders = {f"{name}{t}": partial(with_threads, t, run) for name, run in products.items() for t in (1, 2)}
            seconds = best_of(rounds if k < 1000 else 2, contenders)
            rows.append([str(block), str(k), *(f"{seconds[p + '1'] / seconds[p + '2']:.2f}" for p in products)])
    page.table(f"Two threads against one, {N} x {D}, ratio of times", ["block", "columns", "X W", "X' R"], rows)


def stored_slices(page: Page, rounds: int) -> None:
    """Of rows in a store: all of them as a slice, and in four slices, against all at once."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for block in (16, 8):
            X = mc.write_store(f"{folder}/{block}.store", quantized(block)).X
            quarters = [slice(start, start + N // 4) for start in range(0, N, N // 4)]
            for k in (8, 128):
                W, R = factors(k)
                with all_threads(1):
                    seconds = best_of(
                        rounds,
                        {
                            "XW": partial(X.matmat, W),
                            "all XW": lambda X=X, W=W: X.row_slice(slice(0, N)).matmat(W),
                            "quarters XW": lambda X=X, W=W, q=quarters: [X.row_slice(at).matmat(W) for at in q],
                            "X'R": partial(X.rmatmat, R),
                            "all X'R": lambda X=X, R=R: X.row_slice(slice(0, N)).rmatmat(R),
                            "quarters X'R": lambda X=X, R=R, q=quarters: [X.row_slice(at).rmatmat(R[at]) for at in q],
                        },
                    )
                ratios = [
                    seconds[f"{what} {name}"] / seconds[name] for name in ("XW", "X'R") for what in ("all", "quarters")
                ]
                rows.append([str(block), str(k), *(f"{ratio:.2f}" for ratio in ratios)])
    page.table(
        f"Slices of stored codes against all rows at once, {N} x {D}, one thread, ratio of times",
        ["block", "columns", "X W, all as a slice", "X W, four slices", "X' R, all as a slice", "X' R, four slices"],
        rows,
    )


def errors(page: Page) -> None:
    """Against float64 on the decoded matrix."""
    rows = []
    for block in (16, 4):
        X = quantized(block)
        exact = X.toarray().astype(np.float64)
        W, R = factors(16)
        for name, ours, theirs in (("X W", X @ W, exact @ W), ("X' R", X.rmatmat(R), exact.T @ R)):
            rows.append([str(block), name, f"{np.linalg.norm(ours - theirs) / np.linalg.norm(theirs):.1e}"])
    page.table("Relative error against float64", ["block", "product", "error"], rows)


def run(rounds: int = 9) -> Page:
    """All tables."""
    page = Page("products", "Products with compressed rows", __doc__ or "")
    against_numpy(page, rounds)
    against_decoding(page, rounds)
    two_threads(page, rounds)
    stored_slices(page, rounds)
    errors(page)
    return page
