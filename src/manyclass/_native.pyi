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
def pq_rmatmat(
    codes: NDArray[np.uint8],
    codebooks: NDArray[np.float32],
    R: NDArray[np.floating],
    out: NDArray[np.float32],
    threads: int,
) -> None: ...
def pq_decode(
    codes: NDArray[np.uint8], codebooks: NDArray[np.float32], out: NDArray[np.floating], threads: int
) -> None: ...
def pq_encode(
    x: NDArray[np.float32], codebooks: NDArray[np.float32], codes: NDArray[np.uint8], threads: int
) -> int: ...
