"""Embeddings of the rows of a gallery by the workers of a cluster, part by part, put into the gallery here.

The encoder is fitted here, once, and sent to all nodes. Parts are stores of embeddings in a folder beside the gallery;
each is continued where its worker was lost, and the same call again goes on with all of them.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from manyclass._core.digest import sha256_digest
from manyclass._core.errors import StorageError
from manyclass._core.models import model_pieces
from manyclass._core.shards import SHARD, Shard, ShardRecord, library_versions
from manyclass._core.typing import Embeddings, Report
from manyclass._core.worker_groups import Workers
from manyclass.data.matrix import Matrix, spans
from manyclass.data.store.manifest import MANIFEST, read_manifest
from manyclass.data.store.store import open_store
from manyclass.data.store.writer import StoreWriter
from manyclass.retrieval.encoders import CosineEncoder
from manyclass.retrieval.search import FlatIndex
from manyclass.runs.joining.worker_parts import (
    PARTS_PER_CORE,
    holding_parts,
    part_count,
    part_path,
    parts_folder,
    remove_parts,
    write_alone,
)

_MOST_ROWS = 1 << 16  # of a part, after which progress is told


@contextmanager
def spread_embeddings(
    workers: Workers,
    out: Path,
    encoder: Any,
    X: Matrix,
    whole: Mapping[str, Any],
    at_once: int,
    report: Report,
) -> Iterator[Iterator[Embeddings]]:
    """The embeddings of rows X by an encoder (None compares rows as they are), for the block that saves them at `out`.

    They come as the encoder makes them, of `at_once` rows at a time. `whole` is what tells these rows from others.
    Parts that an attempt left behind are taken up if they are of the same rows and encoder, and removed otherwise;
    after the block they are gone.
    """
    folder, (n, d) = parts_folder(out.absolute()), X.shape
    with holding_parts(folder):
        known = None if encoder is None else sha256_digest(model_pieces(encoder))
        about = {**whole, "encoder": known, "versions": library_versions(())}
        wanted = max(PARTS_PER_CORE * workers.n_cores, -(-n // _MOST_ROWS))
        wanted = max(1, min(wanted, -(-n // at_once)))
        found = _records(part_count(folder, wanted), n, at_once, about)
        if not all(_is_same(part_path(folder, one.shard), one) for one in found):
            remove_parts(folder)
            found = _records(wanted, n, at_once, about)
        places = {part_path(folder, one.shard): one for one in found}
        _write_parts(workers, CosineEncoder(d) if encoder is None else encoder, X, places, at_once, report)
        stored = (open_store(place).X for place in places)
        yield (codes.rows(at) for codes in stored for at in spans(codes.shape[0], at_once))
        remove_parts(folder)


def _records(count: int, n: int, at_once: int, about: dict[str, Any]) -> list[ShardRecord]:
    shards = [Shard(number, count) for number in range(1, count + 1)]
    return [ShardRecord.of(shard, shard.span(n, at_once), n, about) for shard in shards]


def _is_same(place: Path, record: ShardRecord) -> bool:
    """Whether a part that is there, whole or unfinished, is this one; true if there is none."""
    try:
        return _is_done(place, record) or StoreWriter.unfinished(place, record.json()).rows >= 0
    except StorageError:
        return False


def _is_done(place: Path, record: ShardRecord) -> bool:
    return (place / MANIFEST).exists() and read_manifest(place).provenance.get(SHARD) == record.json()


def _write_parts(
    workers: Workers, encoder: Any, X: Matrix, places: dict[Path, ShardRecord], at_once: int, report: Report
) -> None:
    todo = [(place, one) for place, one in places.items() if not _is_done(place, one)]
    sent = [(place, one.json(), X.row_slice(slice(one.first, one.stop))) for place, one in todo]
    done = X.shape[0] - sum(one.stop - one.first for _, one in todo)
    report(done, X.shape[0])
    for _, n in workers.run(write_part, [encoder, at_once], sent):
        done += n
        report(done, X.shape[0])


def write_part(encoder: Any, at_once: int, place: Path, record: dict[str, Any], X: Matrix) -> int:
    """Write the embeddings of rows, on the node that has them to do; how many there are."""
    n, index = X.shape[0], FlatIndex(encoder)

    def write() -> int:
        if _is_done(place, ShardRecord.from_json(record)):  # by a worker that was lost before it could say so
            return n
        with StoreWriter(place, index.embeddings.d, identity=record) as writer:
            for at in spans(n, at_once):
                if at.stop > writer.rows_done:
                    writer.append(index.encode(X.rows(at))[max(0, writer.rows_done - at.start) :])
            writer.commit(provenance={SHARD: record})
        return n

    return write_alone(place, write)
