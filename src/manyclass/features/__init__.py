"""Features: from images to vectors.

    images/       reading: files, arrays and images of Pillow become pixels, or one sentence that says why not
    local/        local descriptors: dense SIFT and color statistics of patches on a grid
    aggregation/  one vector per image out of its local descriptors: Fisher vectors, bags of words, VLAD
    onnx/         one vector per image out of a layer of a network
    extraction/   whole folders: images through an encoder into a store, in parallel, resumable

An encoder has `encode(image)` and `n_features_out_`, whichever folder it comes from; `write_features` asks for no more.
"""

from manyclass._core.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(
    __name__,
    {
        "FeatureRun": "extraction.write_features",
        "SkippedImage": "extraction.skip_log",
        "read_skipped": "extraction.skip_log",
    },
    ("aggregation", "extraction", "images", "local", "onnx"),
)
