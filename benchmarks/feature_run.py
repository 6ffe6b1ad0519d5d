"""One run of `write_features` in a process of its own: `python -m benchmarks.feature_run FOLDER THREADS`.

FOLDER has `paths.json` and the saved `encoder`. Answers with a line of JSON: seconds, and megabytes at the peak of
this process (`writer`) and of the largest of those that it started (`worker`).
"""

import json
import resource
import sys
import time
from pathlib import Path

import manyclass as mc


def main(folder: Path, n_threads: int) -> None:
    paths, encoder = json.loads((folder / "paths.json").read_text()), mc.load(folder / "encoder")
    with mc.threads(n_threads):
        start = time.perf_counter()
        written = mc.write_features(folder / "run.store", paths, encoder, overwrite=True, resume=False)
        seconds = time.perf_counter() - start
    if written.skipped:
        raise SystemExit(f"all pictures must be readable; got {written.skipped[0]}")
    worker = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(json.dumps({"seconds": seconds, "writer": peak(), "worker": worker}))


def peak() -> float:
    """The most megabytes of this program; getrusage would tell of the one that started it, too."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
