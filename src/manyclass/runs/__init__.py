"""Runs: the upper half of the library. Whole pieces of work that read files, leave a folder, and can go on later.

training            train, a classifier in a run folder; the commands are thin over this and the next
trained_run         TrainedRun, a run that is done; a model that is there becomes one
evaluating/         evaluate, a classifier against labels; calibrate; priors of classes
changed_classes     add_classes, remove_classes and rename_classes: a new run of a classifier that is there
recipe              which estimator an objective asks for, with which settings
center_files        weights known before training, of an array or an older run
grid_search         settings chosen by whole fits, judged on validation
folder              RunFolder, where a run keeps its files and goes on from
run_record          what is on record of a run, in full and in a few lines
records             records of runs, evaluations, comparisons and audits as JSON, checked when written and read
record_shapes       what that JSON must look like
sources             rows with labels at a path, a subset of them, and what a path holds instead
feature_store       from pictures to a store: which there are, and an encoder that is read, learned or kept
pictures            pictures at paths, as rows of an encoder
load_model          load: the classifier of a run or file, and the encoder that goes with it
verify_run          whether every file of a run is what its record says
provenance          where features came from: the pictures, and the encoder

auditing            audit, what is wrong with labeled data, in a folder of tables
compression         compress, features into a store of codes
galleries/          build_gallery, update_gallery, compare_encoders and search_marked: what can be searched
labeling/           what people say of pictures, kept; a classifier that learns behind; which picture to ask for next
probing/            probe, how good embeddings are, by several classifiers on the same rows
joining/            join, parts that `--shard i/n` made into what one run would have made
"""

from manyclass._core.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(
    __name__,
    {
        "Audit": "auditing",
        "Evaluation": "evaluating.evaluation",
        "TrainedRun": "trained_run",
        "Calibrated": "evaluating.temperature",
        "ChangedClasses": "changed_classes",
        "add_classes": "changed_classes",
        "audit": "auditing",
        "build_gallery": "galleries.gallery_builder",
        "calibrate": "evaluating.temperature",
        "class_sizes": "changed_classes",
        "compare_encoders": "galleries.encoder_comparison",
        "compress": "compression",
        "evaluate": "evaluating.evaluation",
        "join": "joining.join_parts",
        "remove_classes": "changed_classes",
        "rename_classes": "changed_classes",
        "probe": "probing.embedding_probe",
        "search_marked": "galleries.search_by_marks",
        "spread_features": "joining.spread_features",
        "train": "training",
        "update_gallery": "galleries.gallery_updates",
    },
    ("labeling",),
)
