"""spread: a gallery whose images are searched by the workers of a cluster."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from manyclass._core.errors import SettingsError
from manyclass._core.worker_groups import current_workers

if TYPE_CHECKING:
    from manyclass.retrieval.gallery import Gallery


@contextmanager
def spread(gallery: "Gallery") -> "Iterator[Gallery]":
    """Let the workers of a cluster search a gallery, inside a `with` block.

    Each of them has a part of the embeddings, which is sent once. Hits, percentiles and what is matched are those of
    one process, to the bit, for any number of workers; images may be added and removed meanwhile.

    Parameters
    ----------
    gallery : Gallery
        The gallery, whose encoder must compare embeddings by their inner product.

    Yields
    ------
    Gallery
        The same gallery.

    Raises
    ------
    SettingsError
        Outside of a block of `connect`.
    ValueError
        If the similarity of its encoder is no inner product.

    Examples
    --------
    >>> import manyclass as mc
    >>> with mc.cluster.connect("local"), mc.cluster.spread(gallery):  # doctest: +SKIP
    ...     gallery.search(queries)
    """
    from manyclass.retrieval.spread_index import SpreadIndex

    workers, state = current_workers(), gallery.state()
    if workers is None:
        raise SettingsError("spread must be called in a `with` block of manyclass.cluster.connect")
    if not state.indexes:
        raise ValueError("a gallery can be spread if it has images; this one is empty")
    plain = state.indexes[0]
    offered = SpreadIndex(plain, workers)
    state.indexes = [offered, *state.indexes[1:]]
    try:
        yield gallery
    finally:
        plain.embeddings = offered.embeddings  # which were closed up, if many images were removed
        state.indexes = [plain, *state.indexes[1:]]
        offered.close()
