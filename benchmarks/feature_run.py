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
    peaks = {"writer": resource.RUSAGE_SELF, "worker": resource.RUSAGE_CHILDREN}
    megabytes = {name: resource.getrusage(who).ru_maxrss / 1024 for name, who in peaks.items()}
    print(json.dumps({"seconds": seconds, **megabytes}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
