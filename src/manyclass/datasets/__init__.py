"""Small data that is generated, and readers of what users have on disk."""

from manyclass.datasets.drawn_parts import drawn_parts
from manyclass.datasets.features import Features, read_features
from manyclass.datasets.glyphs import Glyphs, glyphs
from manyclass.datasets.gradient_histograms import glyph_features
from manyclass.datasets.images import ImageSet, read_images
from manyclass.datasets.low_rank import LowRankClasses, low_rank_classes

__all__ = [
    "Features",
    "Glyphs",
    "ImageSet",
    "LowRankClasses",
    "drawn_parts",
    "glyph_features",
    "glyphs",
    "low_rank_classes",
    "read_features",
    "read_images",
]
