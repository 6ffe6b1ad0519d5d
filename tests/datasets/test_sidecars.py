"""Files that belong together by their numbers."""

from pathlib import Path

import pytest

from manyclass.datasets.sidecars import match_shards


def paths(*names):
    return [Path("folder", name) for name in names]


@pytest.mark.parametrize(
    ("features", "others", "expected"),
    [
        (["emb_0", "emb_3"], ["labels_0", "labels_3"], ["labels_0", "labels_3"]),
        (["emb_0", "emb_3"], ["labels_3", "labels_1", "labels_0"], ["labels_0", "labels_3"]),
        (["emb_0", "emb_10"], ["labels_00", "labels_10"], ["labels_00", "labels_10"]),
        (["emb-1-of-2", "emb-2-of-2"], ["y-2-of-2", "y-1-of-2"], ["y-1-of-2", "y-2-of-2"]),
        (["vit16_emb_0", "vit16_emb_1"], ["labels_1", "labels_0"], ["labels_0", "labels_1"]),
        (["emb_0", "emb_1"], ["v2_labels_0", "v2_labels_1"], ["v2_labels_0", "v2_labels_1"]),
        (["emb_3"], ["labels_2", "labels_3"], ["labels_3"]),
    ],
)
def test_files_of_one_number_are_partners(features, others, expected):
    assert match_shards(paths(*features), paths(*others)) == paths(*expected)


@pytest.mark.parametrize(
    ("features", "others", "lonely"),
    [
        (["emb_0", "emb_1", "emb_3"], ["labels_0", "labels_1", "labels_2"], "emb_3"),
        (["emb_3"], ["labels_2"], "emb_3"),
        (["vit16_emb_0", "vit16_emb_3"], ["labels_0", "labels_1"], "vit16_emb_3"),
        (["emb-1-of-2", "emb-2-of-2"], ["y-1-of-3", "y-2-of-3"], "emb-1-of-2"),
    ],
)
def test_a_file_without_a_partner_is_named(features, others, lonely):
    message = f"^folder must have a file like {others[0]} for {lonely}; got none with its number$"
    with pytest.raises(ValueError, match=message):
        match_shards(paths(*features), paths(*others))


def test_two_files_of_one_number_are_refused():
    with pytest.raises(ValueError, match=r"^folder must have one file per number; got labels_0 and y_0$"):
        match_shards(paths("emb_0"), paths("labels_0", "y_0"))
