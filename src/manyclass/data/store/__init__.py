"""The store: rows and what goes with them in one folder, checksummed, committed at one instant."""

from manyclass.data.store.errors import Damage, StorageError, StoreCorruptedError
from manyclass.data.store.names import Names
from manyclass.data.store.reading import Store, open_store
from manyclass.data.store.verified import VerifiedMatrix
from manyclass.data.store.verifying import verify_store
from manyclass.data.store.writer import StoreWriter
from manyclass.data.store.writing import append_store, write_store

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
