"""Small data that is generated, and readers of what users have on disk."""

from manyclass.datasets.features import Features, read_features
from manyclass.datasets.glyphs import Glyphs, glyphs
from manyclass.datasets.gradient_histograms import glyph_features

__all__ = ["Features", "Glyphs", "glyph_features", "glyphs", "read_features"]
