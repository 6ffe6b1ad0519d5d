"""Galleries of images: add, remove, search, re-rank, save.

gallery.py        Gallery, what users meet: images that come and go, and are saved
query_methods.py  QueryMethods, the ways to ask it
catalog.py        ids and metadata of the images by position, and which of them a search may find
metadata.py       columns of JSON values
vectors.py        GrowableArray, the embeddings by position
encoders.py       what a gallery asks of an encoder; vectors as they are
search.py         FlatIndex, exact search; Hits, what was found
spread_index.py   SpreadIndex, exact search by workers that have some of the images each
faiss_index.py    FaissIndex, a shortlist by an approximate index
gallery_search.py from embeddings of queries to hits: each stage of a search, and what scores are worth
reranking.py      query expansion, k-reciprocal neighbors
significance.py   percentiles, p-values and E-values by a background of unrelated images
neighbors.py      NeighborTable, by which a gallery tells its own images from strangers
storage/          galleries in folders
"""

from manyclass._core.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(
    __name__, {"Hits": "search", "KReciprocal": "reranking", "QueryExpansion": "reranking"}, ("storage",)
)
