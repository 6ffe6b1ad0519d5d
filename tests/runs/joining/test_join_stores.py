"""Stores of parts become, byte for byte, the store of one run."""

import itertools
from contextlib import nullcontext
from copy import copy

import numpy as np
import pytest

import manyclass as mc
from manyclass.data.store.verify import verify_store
from manyclass.features.extraction.skip_log import read_skipped
from tests.features.child import Means, Pairs, quantizer
from tests.features.extraction.written import contents_of, many_images

N = 25


def images():
    """Twenty-five, of which four are bad, and the last class is of the last of them."""
    found = many_images(N)
    for i in (3, 8, 9, 20):
        found[i] = b"bad"
    return found


WORDS = {
    "y": ["cat"] * 10 + ["ant"] * 10 + ["bee"] * 5,
    "names": [f"{i:02}.png" for i in range(N)],
    "split": ["train"] * 12 + ["test"] * 13,
}
GIVEN = {
    "numbers": {"y": np.arange(N) - 5},
    "words": WORDS,
    "classes": {"y": [0] * 20 + [2] * 5, "classes": ["zebra", "dog", "ant"]},
    "a class of bad images alone": {"y": ["a"] * 3 + ["b"] + ["c"] * 21},
    "no labels": {},
    "product": {**WORDS, "quantizer": quantizer(), "sample": 10},
    "scalar": {**WORDS, "quantizer": mc.ScalarQuantizer(bits=4), "sample": 10},
}


def make_parts(folder, n, encoder=None, pictures=None, **given):
    paths = [folder / f"part{i}" for i in range(1, n + 1)]
    for i, path in enumerate(paths, 1):
        mc.write_features(
            path, pictures or images(), encoder or Pairs(), shard=f"{i}/{n}", provenance={"made by": "us"}, **given
        )
    return paths


def make_whole(path, encoder=None, pictures=None, **given):
    mc.write_features(path, pictures or images(), encoder or Pairs(), provenance={"made by": "us"}, **given)
    return contents_of(path)


@pytest.mark.parametrize("n", [1, 2, 5, 30])
@pytest.mark.parametrize("given", GIVEN.values(), ids=GIVEN)
def test_parts_become_the_store_of_one_run(tmp_path, given, n):
    whole = make_whole(tmp_path / "whole", **given)
    result = mc.runs.join(tmp_path / "joined", make_parts(tmp_path, n, **given))
    assert contents_of(tmp_path / "joined") == whole
    assert (result["kind"], result["parts"], result["rows"], result["skipped"]) == ("store", n, 21, 4)
    assert verify_store(tmp_path / "joined") == []


def test_an_encoder_that_is_saved_is_kept_with_how_it_was_learned(tmp_path):
    encoder = mc.FisherVectors(
        n_gaussians=2, descriptors=("sift",), n_components=4, n_samples=400, scales=1, step=8, random_state=0
    ).fit(many_images(5))
    whole = make_whole(tmp_path / "whole", encoder, **WORDS)
    mc.runs.join(tmp_path / "joined", make_parts(tmp_path, 3, encoder, **WORDS))
    assert contents_of(tmp_path / "joined") == whole


def test_the_order_of_parts_does_not_matter_and_they_stay_as_they_are(tmp_path):
    parts = make_parts(tmp_path, 3, **WORDS)
    before = [contents_of(part) for part in parts]
    for i, order in enumerate(itertools.permutations(parts)):
        mc.runs.join(tmp_path / f"joined{i}", order)
        assert contents_of(tmp_path / f"joined{i}") == contents_of(tmp_path / "joined0")
    assert [contents_of(part) for part in parts] == before


def test_large_blocks_have_the_checksums_of_one_run(tmp_path, monkeypatch):
    monkeypatch.setattr("manyclass.data.store.transaction.BLOCK_BYTES", 5 * 12 * 4)
    whole = make_whole(tmp_path / "whole", **WORDS)
    mc.runs.join(tmp_path / "joined", make_parts(tmp_path, 4, **WORDS))
    assert contents_of(tmp_path / "joined") == whole


def test_a_join_that_was_interrupted_goes_on_to_the_same_bytes(tmp_path, monkeypatch, watched):
    monkeypatch.setattr("manyclass.data.store.transaction.BLOCK_BYTES", 5 * 12 * 4)
    monkeypatch.setattr("manyclass.data.store.write.PIECE_BYTES", 4 * 12 * 4)
    parts, whole = make_parts(tmp_path, 3, **WORDS), make_whole(tmp_path / "whole", **WORDS)

    def stop(done, total):
        if done >= 12:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        mc.runs.join(tmp_path / "joined", parts, progress=lambda *_: nullcontext(stop))
    assert (tmp_path / "joined" / "journal").exists()
    mc.runs.join(tmp_path / "joined", parts[::-1], progress=watched)
    assert watched.seen == [("joining", "rows", 21, 21)]
    assert contents_of(tmp_path / "joined") == whole


def test_what_is_there_is_replaced_only_if_one_says_so(tmp_path):
    parts = make_parts(tmp_path, 2, **WORDS)
    mc.runs.join(tmp_path / "joined", parts)
    with pytest.raises(mc.StorageError, match="is there already; pass overwrite=True"):
        mc.runs.join(tmp_path / "joined", parts)
    mc.runs.join(tmp_path / "joined", parts, overwrite=True)
    assert len(mc.open_store(tmp_path / "joined")) == 21


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"seed": 1}, r"differ in seed \(0 and 1\)"),
        ({"max_pixels": 50}, r"differ in max pixels \(100000 and 50\)"),
        ({"y": ["dog"] * N}, "differ in labels; the same folders"),
        ({"split": None}, "differ in labels"),
        ({"names": [f"x{i}" for i in range(N)]}, "differ in images; all parts must see the same images"),
        ({"pictures": many_images(N)}, "differ in images"),
        ({"encoder": Means()}, r"differ in encoder \(Pairs 12 and Means 12\); .* by `kind`"),
        ({"quantizer": quantizer()}, "differ in quantizer"),
    ],
)
def test_parts_of_other_data_or_settings_are_refused(tmp_path, given, said):
    (tmp_path / "other").mkdir()
    parts = make_parts(tmp_path, 2, **WORDS)
    others = make_parts(tmp_path / "other", 2, **{**WORDS, **given})
    with pytest.raises(mc.StorageError, match=f"are not parts of one whole: they {said}"):
        mc.runs.join(tmp_path / "joined", [parts[0], others[1]])
    assert not (tmp_path / "joined").exists()


def test_parts_of_other_versions_are_refused(tmp_path, monkeypatch):
    first, _ = make_parts(tmp_path, 2)
    monkeypatch.setattr(mc, "__version__", "9.9")
    (tmp_path / "other").mkdir()
    _, second = make_parts(tmp_path / "other", 2)
    with pytest.raises(
        mc.StorageError, match=r"differ in manyclass \(.* and 9.9\); make all parts with the same versions"
    ):
        mc.runs.join(tmp_path / "joined", [first, second])


def test_machines_that_learned_other_codes_are_told(tmp_path, monkeypatch):
    given = GIVEN["product"]
    first, _ = make_parts(tmp_path, 2, **given)
    (tmp_path / "other").mkdir()
    monkeypatch.setattr(
        "manyclass.features.extraction.write_features.fit_quantizer",
        lambda learner, encoding, *_: (copy(learner).fit(np.random.default_rng(5).random((50, 12), np.float32)), {}),
    )
    _, second = make_parts(tmp_path / "other", 2, **{**given, "quantizer": quantizer()})
    with pytest.raises(mc.StorageError, match="differ in the quantizer that they learned from the same images"):
        mc.runs.join(tmp_path / "joined", [first, second])


def test_a_part_to_which_rows_were_added_is_refused(tmp_path):
    parts = make_parts(tmp_path, 2)
    mc.append_store(parts[1], np.ones((2, 12), np.float32), names=None)
    with pytest.raises(mc.StorageError, match=r"part2 was changed since it was made: it has 15 of its 13 images"):
        mc.runs.join(tmp_path / "joined", parts)


def test_an_unfinished_part_is_refused_with_how_to_go_on(tmp_path):
    parts = make_parts(tmp_path, 2)

    def stop(done, total):
        if done >= 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        mc.write_features(tmp_path / "cut", images(), Pairs(), shard="2/2", progress=stop)
    with pytest.raises(mc.StorageError, match=r"cut is unfinished: .* the same command again goes on"):
        mc.runs.join(tmp_path / "joined", [parts[0], tmp_path / "cut"])


@pytest.mark.parametrize("cut", [False, True], ids=["a flipped bit", "cut off"])
def test_damage_in_any_file_of_a_part_is_noticed(tmp_path, cut):
    parts = make_parts(tmp_path, 2, **GIVEN["product"])
    files = sorted(parts[1].iterdir())
    assert len(files) == 8
    for i, file in enumerate(files):
        data = file.read_bytes()
        at = len(data) * 3 // 4
        file.write_bytes(data[:at] if cut else data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
        with pytest.raises(mc.StorageError):
            mc.runs.join(tmp_path / f"joined{i}", parts)
        assert not (tmp_path / f"joined{i}" / "manifest.json").exists()
        file.write_bytes(data)


def test_where_no_image_can_be_used_that_is_said_as_by_one_run(tmp_path):
    bad = [b"bad"] * 4
    said = []
    for make in (
        lambda: mc.write_features(tmp_path / "whole", bad, Means(), names=list("abcd")),
        lambda: mc.runs.join(tmp_path / "joined", make_parts(tmp_path, 2, Means(), bad, names=list("abcd"))),
    ):
        with pytest.raises(ValueError, match="at least one of the 4 images must be usable; the first, a, ") as error:
            make()
        said.append(str(error.value))
    assert said[0] == said[1]


def test_the_list_of_skipped_images_is_that_of_one_run(tmp_path):
    make_whole(tmp_path / "whole", **WORDS)
    mc.runs.join(tmp_path / "joined", make_parts(tmp_path, 4, **WORDS))
    assert read_skipped(tmp_path / "joined") == read_skipped(tmp_path / "whole")
    assert [entry.position for entry in read_skipped(tmp_path / "joined")] == [3, 8, 9, 20]
