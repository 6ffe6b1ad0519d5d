"""The store: rows and what goes with them in one folder, checksummed, committed at one instant."""

from manyclass._core.errors import Damage, StorageError, StoreCorruptedError
from manyclass.data.store.blocks import VerifiedMatrix
from manyclass.data.store.columns import Names
from manyclass.data.store.store import Store, open_store
from manyclass.data.store.verify import verify_store
from manyclass.data.store.write import append_store, write_store
from manyclass.data.store.writer import StoreWriter

__all__ = [
    "Damage",
    "Names",
    "StorageError",
    "Store",
    "StoreCorruptedError",
    "StoreWriter",
    "VerifiedMatrix",
    "append_store",
    "open_store",
    "verify_store",
    "write_store",
]
