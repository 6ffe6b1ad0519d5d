"""Audit: what is wrong with data that has labels, before anything is learned from it. Nothing is changed.

mislabeled          label_errors, labels that are likely wrong, and what they should be
out_of_sample       what all other rows say of a row: machines without it, and its neighbors
label_noise         how likely a label is wrong, from that
near_duplicates     duplicates, rows that are the same but for little, within a set or between two
cosine_join         all pairs of rows above a cosine, exactly
outlying            outliers, rows that are far from all others
class_structure     class_pairs, classes that should be one; class_splits, classes that should be two
"""

from manyclass._core.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(
    __name__,
    {
        "ClassPair": "class_structure",
        "ClassSplit": "class_structure",
        "Duplicates": "near_duplicates",
        "LabelErrors": "mislabeled",
        "Outliers": "outlying",
        "class_pairs": "class_structure",
        "class_splits": "class_structure",
        "duplicates": "near_duplicates",
        "label_errors": "mislabeled",
        "outliers": "outlying",
    },
)
