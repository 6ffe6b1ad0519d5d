"""Galleries of images: add, remove, search, re-rank, save."""

from manyclass.retrieval.expansion import QueryExpansion
from manyclass.retrieval.gallery import Gallery
from manyclass.retrieval.hits import Hits
from manyclass.retrieval.reciprocal import KReciprocal

__all__ = ["Gallery", "Hits", "KReciprocal", "QueryExpansion"]
