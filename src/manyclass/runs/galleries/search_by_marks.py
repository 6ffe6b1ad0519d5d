"""Search by marks: images that are wanted and images that are not, as one query against the world of a gallery."""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from manyclass._core.typing import Embeddings
from manyclass.retrieval.catalog import select_rows
from manyclass.retrieval.significance import judge_by_bulk

if TYPE_CHECKING:
    from manyclass.retrieval.gallery import Gallery
    from manyclass.retrieval.search import Hits

MarkedImage = str | int | os.PathLike[str]

FEWEST_ROWS = 40  # a smaller background set says nothing of what is rare

MOST_ROWS = 4000  # of a gallery that are the world where it has no background set


def search_marked(
    gallery: "Gallery",
    like: Sequence[MarkedImage],
    unlike: Sequence[MarkedImage] = (),
    *,
    k: int = 10,
    where: Any = None,
    world: Any = None,
) -> "Hits":
    """Find the k images that are most like some images and unlike others, as one query.

    `RelevanceFeedback` learns from the marks, in the space of the gallery's embeddings and against a world of other
    images, by whose scores the hits are judged; by the bulk of these alone where they are drawn from the gallery, as
    some show what is asked for. Marked images are not among the hits. One wanted image alone, against the world of the
    gallery itself, is searched for as `Gallery.search_ids` and `search_images` do.

    Parameters
    ----------
    gallery : Gallery
        A gallery of one encoder, whose similarity is an inner product.
    like : sequence of str, int or path-like
        Wanted images, at least one: ids of the gallery, or files of pictures, which need a gallery with features. What
        is an id is not taken for a file; a `Path` is one.
    unlike : sequence of str, int or path-like, default=()
        Unwanted images, in the same way.
    k : int, default=10
        Number of images.
    where : mask, ids, dict or callable, default=None
        Filter, as in `Gallery.search`.
    world : array-like of shape (n_world, n_features_out) or RelevanceFeedback, default=None
        Embeddings of other images, or what was fitted on them. None is the background set of the gallery, if it has
        one of 40 images, or else some of its own images.

    Returns
    -------
    Hits
        Ids and scores of shape (1, k), best first.

    Examples
    --------
    >>> import numpy as np
    >>> import manyclass as mc
    >>> rng = np.random.default_rng(0)
    >>> gallery = mc.Gallery(background=rng.standard_normal((100, 8)))
    >>> gallery.add(np.repeat(np.eye(3, 8), 3, axis=0) + 0.1 * rng.standard_normal((9, 8)))
    >>> mc.runs.search_marked(gallery, [0, 1], unlike=[3], k=2).ids[0, 0]
    np.int64(2)
    """
    from manyclass.exemplar.relevance_feedback import RelevanceFeedback

    if isinstance(like, str | int | os.PathLike) or not len(like):
        raise ValueError(f"like must be a list of at least one image; got {like!r}")
    if len(like) == 1 and not len(unlike) and world is None:
        single = gallery.search_ids if _is_id(gallery, like[0]) else gallery.search_images
        return single(list(like), k, where)
    feedback = world if isinstance(world, RelevanceFeedback) else RelevanceFeedback().fit(_world(gallery, world))
    query = feedback.query(_embeddings(gallery, like), _embeddings(gallery, unlike))
    marked = [mark for mark in (*like, *unlike) if _is_id(gallery, mark)]
    mask = _without(gallery, where, marked)
    hits = gallery.search_embeddings(query.direction, k, mask, query.background)
    if world is not None or not is_own_world(gallery):
        return hits
    n = len(gallery) if mask is None else int(np.count_nonzero(mask))
    judged: dict[str, Any] = judge_by_bulk(hits.scores, query.background[None], n, gallery.false_match)
    return replace(hits, **judged)


def gallery_world(gallery: "Gallery") -> Embeddings:
    """What a gallery's images are told from where nobody says: its background set, or a sample of itself."""
    background: Embeddings = gallery.state().indexes[0].encoder.background_ if len(gallery.state().indexes) else []
    if len(background) >= FEWEST_ROWS:
        return background
    ids = gallery.ids
    some = np.sort(np.random.default_rng(0).choice(len(ids), min(len(ids), MOST_ROWS), replace=False))
    return gallery.codes(ids[some])


def is_own_world(gallery: "Gallery") -> bool:
    """Whether that is drawn from the gallery's own images, some of which then show what is asked for."""
    background = gallery.state().indexes[0].encoder.background_ if len(gallery.state().indexes) else []
    return len(background) < FEWEST_ROWS or gallery.own_background


def _world(gallery: "Gallery", world: Any) -> Any:
    return gallery_world(gallery) if world is None else world


def _is_id(gallery: "Gallery", mark: MarkedImage) -> bool:
    return not isinstance(mark, os.PathLike) and mark in gallery


def _embeddings(gallery: "Gallery", marks: Sequence[MarkedImage]) -> Embeddings:
    """Of marks in their order."""
    index = gallery.state().indexes[0]
    rows = np.zeros((len(marks), index.embeddings.d), np.float32)
    for at, mark in enumerate(marks):
        if _is_id(gallery, mark):
            rows[at] = gallery.codes([mark])[0]
        elif gallery.features is None or not Path(str(mark)).exists():
            raise ValueError(f"marks must be ids of the gallery or files of pictures; {str(mark)!r} is neither")
        else:
            rows[at] = index.encode(gallery.features.transform([mark]))[0]
    return rows


def _without(gallery: "Gallery", where: Any, marked: Sequence[Any]) -> Any:
    """A mask in gallery order: what `where` leaves, but for what is marked; None where that is all."""
    if where is None and not marked:
        return None
    catalog = gallery.state().catalog
    live = catalog.live()
    kept = select_rows(catalog, where)
    mask = np.ones(len(live), bool) if kept is None else np.isin(live, kept)
    return mask & ~np.isin(live, catalog.positions(list(marked)))
