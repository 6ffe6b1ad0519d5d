"""Runs: the upper half of the library. Whole pieces of work that read files, leave a folder, and can go on later.

training            train, a classifier in a run folder; the commands are thin over this and the next
evaluation          evaluate, a classifier against labels
recipe              which estimator an objective asks for, with which settings
grid_search         settings chosen by whole fits, judged on validation
folder              RunFolder, where a run keeps its files and goes on from
run_record          what is on record of a run, in full and in a few lines
records, schema     records of runs, evaluations and comparisons as JSON, checked when written and read
sources             rows with labels at a path, a subset of them, and what a path holds instead
load_model          the classifier of a run or file, and the encoder that goes with it
provenance          where features came from: the pictures, and the encoder

compression         features into codes of a quantizer
gallery_builder     images into a gallery
gallery_updates     images added to and removed from a gallery
negatives           unrelated images, by which exemplar machines are fitted
exemplar_methods    the encoders of exemplar machines, by name
encoder_comparison  encoders compared by mean average precision
"""

from manyclass._core.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(
    __name__,
    {
        "Evaluation": "evaluation",
        "TrainedRun": "training",
        "evaluate": "evaluation",
        "train": "training",
    },
)
