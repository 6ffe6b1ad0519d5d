"""Extraction: whole folders of images through an encoder into a store.

    write_features    the function write_features, which features exports
    run_identity      what tells one run from another, so that it can be continued
    skip_log          SkipLog, the images of a run without a row, committed with the rows
    encoding          Encoding, images to rows or codes, in parallel and in order; quantizers that learn from some first
    earlier_rows      EarlierRows, what a store has already of images that are encoded again
    processes         processes that may crash without taking the run with them

Neither the number of processes nor an interruption changes a bit of what is written.
"""

from manyclass._core.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(
    __name__,
    {
        "EarlierRows": "earlier_rows",
        "Encoding": "encoding",
        "FeatureRun": "write_features",
        "SkippedImage": "skip_log",
        "encode_images": "encoding",
        "images_digest": "run_identity",
        "read_skipped": "skip_log",
    },
)
