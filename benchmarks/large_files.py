"""Everybody's files at size, by the commands that users give: peak memory, broken members, kill -9.

Embeddings are a parquet file of rows of 768 numbers in 1,000 classes with a label and a name each, in row groups of
20,000. Pictures are drawn, and lie in two webdataset tars, in a parquet file as Hugging Face keeps them, and in a
folder beside a metadata.csv; one in fifty is cut off or no picture. Every command runs in a process of its own with one
thread. It is run whole, and once more with a kill -9 on the way and the same command again; "same bytes" compares every
file of the two stores. The peak is the most that the process, or the largest that it started, ever held, mapped files
included.

`python -m benchmarks large_files gigabytes=10` makes the embeddings as large as that; `folder=FOLDER` keeps them
there, and takes an `embeddings.parquet` that is there already.
"""

import csv
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from PIL import Image

from benchmarks.features import drawn
from benchmarks.load import load
from benchmarks.page import Page
from manyclass._core.digest import file_digest
from manyclass.data.store.journal import Journal

D, K, GROUP = 768, 1000, 20_000

LIMIT = 500  # megabytes that no command may exceed

_ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}

# The small program in between starts the command: ru_maxrss of a process counts what its parent held when it began.
_MEASURE = """
import json, os, sys, time
started, pid = time.perf_counter(), os.fork()
if not pid:
    os.execv(sys.argv[2], sys.argv[2:])
_, status, used = os.wait4(pid, 0)
with open(sys.argv[1], "w") as file:
    json.dump({"code": status, "seconds": time.perf_counter() - started, "peak": used.ru_maxrss / 1024}, file)
"""


def write_embeddings(path: Path, n: int) -> None:
    """Rows around the means of classes, of length one, with the words of their labels and their names."""
    import pyarrow as pa
    from pyarrow import parquet

    rng = np.random.default_rng(0)
    means = 0.5 * rng.standard_normal((K, D), dtype=np.float32)
    schema = pa.schema([("embedding", pa.list_(pa.float32())), ("label", pa.string()), ("name", pa.string())])
    with parquet.ParquetWriter(path, schema, compression="none", use_dictionary=["label"]) as writer:
        for first in range(0, n, GROUP):
            y = rng.integers(K, size=min(GROUP, n - first))
            X = means[y] + rng.standard_normal((len(y), D), dtype=np.float32)
            X /= np.linalg.norm(X, axis=1, keepdims=True)
            ends = pa.array(np.arange(0, X.size + 1, D, dtype=np.int32))
            words = [f"class {label:04}" for label in y], [f"photos/{first + i:08}.jpg" for i in range(len(y))]
            columns = [pa.ListArray.from_arrays(ends, pa.array(X.ravel())), *map(pa.array, words)]
            writer.write_table(pa.table(columns, schema=schema), row_group_size=GROUP)


def pictures(n: int) -> Iterator[tuple[str, int, bytes]]:
    """(name, class, bytes) of n pictures, of which one in fifty is broken."""
    for i in range(n):
        file = io.BytesIO()
        Image.fromarray(drawn(i % 50, 130, 160)).save(file, "JPEG", quality=90)
        data = file.getvalue()
        if i % 50 == 7:
            data = data[: len(data) // 3] if i % 100 == 7 else b"no picture"
        yield f"{i:06}", i % 5, data


def write_tars(folder: Path, n: int) -> None:
    """Two tars as img2dataset writes them: a picture, its class and its caption share a key."""
    folder.mkdir()
    with tarfile.open(folder / "00000.tar", "w") as first, tarfile.open(folder / "00001.tar", "w") as second:
        for name, label, data in pictures(n):
            for ending, content in ((".jpg", data), (".cls", str(label).encode()), (".txt", b"a drawing")):
                member = tarfile.TarInfo(name + ending)
                member.size = len(content)
                (first if int(name) < n // 2 else second).addfile(member, io.BytesIO(content))


def write_hugging_face(path: Path, n: int) -> None:
    """A parquet file with a column of structs of bytes and path, and classes whose names its metadata have."""
    import pyarrow as pa
    from pyarrow import parquet

    names = [f"kind {label}" for label in range(5)]
    about = {"info": {"features": {"label": {"_type": "ClassLabel", "names": names}, "image": {"_type": "Image"}}}}
    image = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    schema = pa.schema([("image", image), ("label", pa.int64())], {"huggingface": json.dumps(about)})
    with parquet.ParquetWriter(path, schema) as writer:
        rows = list(pictures(n))
        for first in range(0, n, 100):
            some = rows[first : first + 100]
            cells = [{"bytes": data, "path": f"{name}.jpg"} for name, _, data in some]
            writer.write_table(pa.table([pa.array(cells, image), [label for _, label, _ in some]], schema=schema))


def write_folder(folder: Path, n: int) -> None:
    """Pictures in a folder, and a metadata.csv that has their labels."""
    folder.mkdir()
    with open(folder / "metadata.csv", "w", newline="", encoding="utf-8") as file:
        lines = csv.writer(file)
        lines.writerow(["file_name", "label"])
        for name, label, data in pictures(n):
            (folder / f"{name}.jpg").write_bytes(data)
            lines.writerow([f"{name}.jpg", f"kind {label}"])


@contextmanager
def started(room: Path, words: list[str]) -> Iterator[subprocess.Popen[str]]:
    """A command under way, in a group of its own; what it says goes to files of the room."""
    program = [sys.executable, "-c", _MEASURE, str(room / "used.json"), sys.executable, "-m", "manyclass", *words]
    with open(room / "said.txt", "w") as said, open(room / "noise.txt", "w") as noise:
        yield subprocess.Popen(
            program, stdout=said, stderr=noise, text=True, start_new_session=True, env={**os.environ, **_ONE_THREAD}
        )


def finished(room: Path, words: list[str]) -> dict[str, Any]:
    """What a command used and told, once it is done."""
    with started(room, words) as process:
        process.wait()
    used: dict[str, Any] = json.loads((room / "used.json").read_text())
    if used["code"]:
        raise RuntimeError(f"manyclass {' '.join(words)} failed: {(room / 'noise.txt').read_text()[-500:]}")
    return {**used, **json.loads((room / "said.txt").read_text())}


def killed(room: Path, words: list[str], store: Path, rows: int) -> bool:
    """Run a command, and kill it and all that it started as soon as so many rows are safe; whether it was in time."""
    with started(room, words) as process:
        while process.poll() is None:
            if safe_rows(store) >= rows:
                os.killpg(process.pid, signal.SIGKILL)
            time.sleep(0.01)
    return process.returncode != 0


def safe_rows(store: Path) -> int:
    """Rows of an unfinished store that a crash does not cost."""
    try:
        journal = Journal.read(store)
    except (OSError, ValueError):  # it is being written
        return 0
    return journal.marks[-1].rows if journal and journal.marks else 0


def same_files(first: Path, other: Path) -> bool:
    """Whether two folders have the same files with the same bytes."""
    digests = [{path.name: file_digest(path) for path in sorted(folder.iterdir())} for folder in (first, other)]
    return digests[0] == digests[1]


def twice(room: Path, command: list[str], source: Path, about: str) -> list[str]:
    """A row of the table: the command as it is, and killed and given again."""
    whole, resumed = room / "whole.store", room / "resumed.store"
    words = [command[0], str(source), *command[1:], "--threads", "1", "--json", "-o"]
    found = finished(room, [*words, str(whole)])
    in_time = killed(room, [*words, str(resumed)], resumed, int(found["rows"]) // 3)
    again = finished(room, [*words, str(resumed)]) if in_time else found
    row = [
        f"`{' '.join(command)}`", about, str(found["rows"]), str(len(found.get("skipped", []))),
        f"{found['seconds']:.0f} s", f"{max(found['peak'], again['peak']):.0f} MB",
        f"after {again['resumed_after']:,} rows" if in_time else "done before",
        "yes" if same_files(whole, resumed) else "no",
    ]  # fmt: skip
    shutil.rmtree(resumed)
    return row


def run(gigabytes: float = 1, n_pictures: int = 1000, folder: str = "") -> Page:
    """Both tables."""
    page = Page("large_files", "Everybody's files at size", f"{__doc__}\n{load()}")
    columns = ["command", "of", "rows", "skipped", "time", "peak", "killed and resumed", "same bytes"]
    with TemporaryDirectory(dir=folder or None) as name:
        room, rows = Path(name), []
        for kind, (what, write) in _PICTURES.items():
            write(room / kind, n_pictures)
            rows.append(twice(room, ["features"], room / kind, what))
            shutil.rmtree(room / "whole.store")
        page.table(f"{n_pictures:,} pictures of 160 x 130 pixels, one thread", columns, rows)
        path = Path(folder or name) / "embeddings.parquet"
        if not path.exists():
            write_embeddings(path, int(float(gigabytes) * 1e9 / (4 * D)))
        what = f"parquet of {path.stat().st_size / 1e9:.2f} GB"
        rows = [twice(room, ["compress", "--test-fraction", "0.1"], path, what)]
        shutil.rmtree(room / "whole.store")
        rows.append(twice(room, ["compress"], path, what))
        size = f"{int(rows[0][2]):,} x {D}"
        page.table(f"Embeddings, {size}, one thread", columns, rows)
        rows = []
        for words in (["verify"], ["info"], ["train", "--sample", "20000", "-o", str(room / "run")]):
            found = finished(room, [words[0], str(room / "whole.store"), *words[1:], "--json"])
            shown = " ".join(word for word in words if not word.startswith(str(room)) and word != "-o")
            rows.append([f"`{shown}`", f"{found['seconds']:.0f} s", f"{found['peak']:.0f} MB"])
        page.table(f"The store of them, {size}", ["command", "time", "peak"], rows)
    over = [row for _, names, table in page.tables for row in table if _peak(row, names) >= LIMIT]
    verdict = f"No command exceeded {LIMIT} MB." if not over else f"{len(over)} commands exceeded {LIMIT} MB."
    page.about += f" {verdict}"
    return page


_PICTURES = {
    "pictures": ("two webdataset tars", write_tars),
    "pictures.parquet": ("Hugging Face parquet", write_hugging_face),
    "photos": ("metadata.csv", write_folder),
}


def _peak(row: list[str], names: list[str]) -> float:
    return float(row[names.index("peak")].removesuffix(" MB"))
