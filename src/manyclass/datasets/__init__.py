"""Small data that is generated, and readers of what users have on disk."""

from manyclass.datasets.dataset import Features, read_features
from manyclass.datasets.glyph_images.glyphs import Glyphs, glyphs
from manyclass.datasets.glyph_images.hog import glyph_features
from manyclass.datasets.image_folders import ImageSet, read_images
from manyclass.datasets.low_rank import LowRankClasses, low_rank_classes
from manyclass.datasets.splits import draw_splits

__all__ = [
    "Features",
    "Glyphs",
    "ImageSet",
    "LowRankClasses",
    "draw_splits",
    "glyph_features",
    "glyphs",
    "low_rank_classes",
    "read_features",
    "read_images",
]
