import numpy as np
from numpy.typing import NDArray

def levels() -> list[str]: ...
def level() -> str: ...
def set_level(level: str) -> None: ...
def pq_matmat(
    codes: NDArray[np.uint8],
    codebooks: NDArray[np.float32],
    W: NDArray[np.floating],
    out: NDArray[np.float32],
    threads: int,
) -> None: ...

STRETCH: int

def pq_find_crowded(
    codes: NDArray[np.uint8], codebooks: NDArray[np.float32], crowded: NDArray[np.uint8], threads: int
) -> None: ...
def mix(
    x: NDArray[np.float32], mixer: NDArray[np.float32], first: int, out: NDArray[np.float32], threads: int
) -> None: ...
def pq_rmatmat(
    codes: NDArray[np.uint8],
    codebooks: NDArray[np.float32],
    crowded: NDArray[np.uint8],
    R: NDArray[np.floating],
    out: NDArray[np.float32],
    threads: int,
) -> None: ...
def gather(X: NDArray[np.float32], index: NDArray[np.int64], out: NDArray[np.float32], threads: int) -> None: ...
def pq_decode(
    codes: NDArray[np.uint8], codebooks: NDArray[np.float32], out: NDArray[np.floating], threads: int
) -> None: ...
def pq_encode(
    x: NDArray[np.float32], codebooks: NDArray[np.float32], codes: NDArray[np.uint8], threads: int
) -> int: ...
def softmax_loss(
    S: NDArray[np.floating],
    y: NDArray[np.integer],
    weights: NDArray[np.float32],
    R: NDArray[np.floating],
    values: NDArray[np.float64],
    threads: int,
) -> None: ...
def best_rows(
    X: NDArray[np.float32],
    index: NDArray[np.int64],
    Q: NDArray[np.float32],
    offset: int,
    scores: NDArray[np.float32],
    positions: NDArray[np.int64],
    threads: int,
) -> None: ...
def best_scores(
    S: NDArray[np.float32],
    index: NDArray[np.int64],
    scores: NDArray[np.float32],
    positions: NDArray[np.int64],
    threads: int,
) -> None: ...
def mixture_sums(
    X: NDArray[np.float32],
    order: NDArray[np.int64],
    starts: NDArray[np.int64],
    means: NDArray[np.float32],
    rates: NDArray[np.float32],
    logs: NDArray[np.float32],
    margin: float,
    counts: NDArray[np.float64],
    first: NDArray[np.float64],
    second: NDArray[np.float64],
    total: NDArray[np.float64],
) -> int: ...
def nearest_words(X: NDArray[np.float32], words: NDArray[np.float32], labels: NDArray[np.int32]) -> int: ...
def residual_sums(
    X: NDArray[np.float32],
    order: NDArray[np.int64],
    starts: NDArray[np.int64],
    labels: NDArray[np.int32],
    words: NDArray[np.float32],
    counts: NDArray[np.float64],
    sums: NDArray[np.float64],
) -> None: ...
def one_vs_rest(
    X: NDArray[np.float32],
    y: NDArray[np.int32],
    weights: NDArray[np.float32],
    offsets: NDArray[np.float64],
    shares: NDArray[np.float64],
    W: NDArray[np.float32],
    biases: NDArray[np.float32],
    scales: NDArray[np.float64],
    steps: NDArray[np.int64],
    loss: int,
    step: float,
    regularization: float,
    bias_rate: float,
    decays: bool,
    losses: NDArray[np.float64],
    threads: int,
) -> None: ...
def one_vs_rest_block(
    X: NDArray[np.float32],
    y: NDArray[np.int32],
    weights: NDArray[np.float32],
    offsets: NDArray[np.float64],
    shares: NDArray[np.float64],
    W: NDArray[np.float32],
    biases: NDArray[np.float32],
    scales: NDArray[np.float64],
    steps: NDArray[np.int64],
    loss: int,
    step: float,
    regularization: float,
    bias_rate: float,
    decays: bool,
    G: NDArray[np.float32],
    S: NDArray[np.float32],
    losses: NDArray[np.float64],
    threads: int,
) -> None: ...
def joint_block(
    X: NDArray[np.float32],
    y: NDArray[np.int32],
    weights: NDArray[np.float32],
    W: NDArray[np.float32],
    biases: NDArray[np.float32],
    scales: NDArray[np.float64],
    steps: NDArray[np.int64],
    rival: int,
    step: float,
    regularization: float,
    bias_rate: float,
    decays: bool,
    G: NDArray[np.float32],
    S: NDArray[np.float32],
    draws: NDArray[np.uint64],
    rivals: NDArray[np.int32],
    pulls: NDArray[np.float32],
) -> float: ...
def draw_rivals(y: NDArray[np.int32], draws: NDArray[np.uint64], k: int, rivals: NDArray[np.int32]) -> None: ...
def score_two(
    X: NDArray[np.float32],
    W: NDArray[np.float32],
    classes: NDArray[np.int32],
    S: NDArray[np.float32],
    threads: int,
) -> None: ...
def move_some(X: NDArray[np.float32], A: NDArray[np.float32], W: NDArray[np.float32], threads: int) -> None: ...
def move_two(
    X: NDArray[np.float32],
    y: NDArray[np.int32],
    rivals: NDArray[np.int32],
    pulls: NDArray[np.float32],
    W: NDArray[np.float32],
    threads: int,
) -> None: ...
def resample(
    image: NDArray[np.float32],
    row_starts: NDArray[np.int32],
    row_weights: NDArray[np.float32],
    column_starts: NDArray[np.int32],
    column_weights: NDArray[np.float32],
    out: NDArray[np.float32],
) -> None: ...
def orientation_cells(
    image: NDArray[np.float32],
    rows: tuple[int, int],
    columns: tuple[int, int],
    profile: NDArray[np.float32],
    cells: NDArray[np.float32],
) -> None: ...
def color_cells(
    image: NDArray[np.uint8],
    rows: tuple[int, int],
    columns: tuple[int, int],
    profile: NDArray[np.float32],
    cells: NDArray[np.float32],
) -> None: ...
def sift_of_cells(
    cells: NDArray[np.float32],
    apart: int,
    step: int,
    window: NDArray[np.float32],
    least: float,
    root: bool,
    out: NDArray[np.float32],
) -> None: ...
