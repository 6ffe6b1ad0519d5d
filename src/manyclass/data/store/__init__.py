"""The store: rows and what goes with them in one folder, checksummed, committed at one instant, appendable.

docs/formats.md has the format, byte by byte, and docs/why_a_store.md the reasons for it.

manifest.py      manifest.json, which says what belongs to the store, and of each file how it was written; nothing in
                 it is believed before it is checked
attachments.py   whole files that are committed with the rows: the encoder that made them, and what it skipped
columns.py       labels, splits and names of the rows
blocks.py        mapped files and matrices whose blocks are checked before they are first used
store.py         an opened store, and its quantizer as files
verify.py        everything that is wrong with a store
journal.py       how far an unfinished write is, and its rows
transaction.py   a write, from what it finds in the folder to the commit
writer.py        StoreWriter: rows as they come
write.py         write_store and append_store: rows that are all there
"""

from manyclass._core.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(__name__, {"Names": "store", "VerifiedMatrix": "blocks"})
