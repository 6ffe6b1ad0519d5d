"""Images of characters: a data set of hundreds of classes that is drawn here and needs no download.

    glyphs        the function glyphs, which datasets exports, and what it returns, Glyphs
    alphabet      which characters are classes
    fonts         the typefaces that they are drawn with, those of matplotlib
    distortion    small random changes to each drawing
    cache         drawn images kept on disk
    hog           glyph_features, histograms of gradient directions

The same seed gives the same pixels for as long as the fonts, Pillow and NumPy stay the same.
"""

from manyclass._core.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(__name__, {"Glyphs": "glyphs", "glyph_features": "hog"})
