"""A quantizer as files of a store, and back."""

import hashlib
from pathlib import Path

from manyclass.data.quantizer import Quantizer
from manyclass.data.quantizers import quantizer_of
from manyclass.data.store.array_file import write_array
from manyclass.data.store.blocks import BlockFile
from manyclass.data.store.errors import StorageError
from manyclass.data.store.manifest import QuantizerRecord
from manyclass.data.store.raw import plain, raw_bytes
from manyclass.data.store.sealed import as_json, digest


def fingerprint(quantizer: Quantizer) -> str:
    """A digest of everything that a quantizer is."""
    settings, arrays = quantizer.state()
    hashes = {
        name: [array.dtype.str, list(array.shape), hashlib.sha256(raw_bytes(plain(array))).hexdigest()]
        for name, array in arrays.items()
    }
    return digest({"kind": quantizer.kind, "settings": settings, "arrays": hashes})


def same_quantizer(a: Quantizer | None, b: Quantizer | None) -> bool:
    """Whether codes of one mean the same to the other; None is the quantizer of numbers as they are."""
    return a is b or (a is not None and b is not None and fingerprint(a) == fingerprint(b))


def check_quantizer(quantizer: Quantizer) -> None:
    """Refuse a quantizer that readers would refuse, or take for another than it is."""
    settings, arrays = quantizer.state()
    read = quantizer_of(quantizer.kind, as_json(settings, "settings"), {k: plain(A) for k, A in arrays.items()})
    if (read.n_features, read.code_size) != (quantizer.n_features, quantizer.code_size):
        wanted, got = (f"{q.n_features} columns in {q.code_size} bytes" for q in (read, quantizer))
        raise ValueError(f"the quantizer must have {wanted}, as its state says; got {got}")


def write_quantizer(folder: Path, quantizer: Quantizer, serial: int) -> QuantizerRecord:
    """Write the arrays of a quantizer, and give the record of them."""
    settings, arrays = quantizer.state()
    records = {
        name: write_array(folder, f"quantizer_{name}-{serial}.npy", array) for name, array in sorted(arrays.items())
    }
    return QuantizerRecord(quantizer.kind, settings, records)


def read_quantizer(folder: Path, record: QuantizerRecord) -> Quantizer:
    """The quantizer of a record; its files are checked."""
    arrays = {}
    for name, file in record.arrays.items():
        blocks = BlockFile(folder, file)
        blocks.check()
        arrays[name] = blocks.array.copy()
    try:
        return quantizer_of(record.kind, record.settings, arrays)
    except (ValueError, TypeError, KeyError) as error:
        raise StorageError(f"{folder} cannot be read as a store: its quantizer is invalid: {error}") from error
