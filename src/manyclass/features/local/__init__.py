"""Local descriptors: numbers for each of many patches of an image.

    descriptor    what every descriptor gives, the grids on which patches lie, and samples of many images
    dense_sift    DenseSift, histograms of the directions of gradients; resizing and smoothing
    color         LocalColor, means and deviations of colors

A new one has `dimension` and `describe(image)`, as the protocol `Descriptor` says, and a name in `make_descriptors` of
aggregation/image_encoder.
"""

from manyclass._core.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(
    __name__,
    {
        "DenseSift": "dense_sift",
        "Descriptor": "descriptor",
        "LocalColor": "color",
        "LocalDescriptors": "descriptor",
        "PatchGrid": "descriptor",
    },
)
