"""Reading images.

    decoding          read_image: files, which are believed in nothing, and what users pass as many images
    picture_source    PictureSource: where the pictures of named rows are, in folders of files or in an array
    pixels            pixels of every kind as red, green and blue in 8 bits, upright, and shrunk; ImageError

All else in features works on the pixels that `read_image` gives.
"""

from manyclass._core.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(__name__, {"as_image_list": "decoding"})
