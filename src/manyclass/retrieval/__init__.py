"""Galleries of images: add, remove, search, re-rank, save."""

from manyclass.retrieval.gallery import Gallery
from manyclass.retrieval.reranking import KReciprocal, QueryExpansion
from manyclass.retrieval.search import Hits

__all__ = ["Gallery", "Hits", "KReciprocal", "QueryExpansion"]
