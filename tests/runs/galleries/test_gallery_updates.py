"""update_gallery, and ids as users write them."""

import shutil
import warnings

import numpy as np
import pytest

import manyclass as mc
from manyclass._core.models import model_pieces
from manyclass._core.sealed import seal, unseal
from manyclass.retrieval.storage.segments import names_of, read_gallery_manifest
from manyclass.runs.galleries.gallery_updates import known_ids
from tests.cli.gallery_data import labeled, write_store
from tests.features import networks
from tests.features.hostile import picture


@pytest.fixture
def named(tmp_path):
    """A gallery whose images have names."""
    store = write_store(tmp_path / "x.store").path
    mc.runs.build_gallery(store, tmp_path / "g", method="none")
    return tmp_path / "g"


@pytest.fixture
def numbered(tmp_path):
    """A gallery whose images have numbers."""
    np.save(tmp_path / "x.npy", labeled()[0])
    mc.runs.build_gallery(tmp_path / "x.npy", tmp_path / "n", method="none")
    return tmp_path / "n"


def test_images_are_removed_and_added_at_once(named, tmp_path, watched):
    more = write_store(tmp_path / "more.store", 16, seed=5, prefix="new ").path
    first = str(mc.Gallery.open(named).ids[0])
    result = mc.runs.update_gallery(str(named), str(more), remove=[first, first], progress=watched)
    assert result == {"path": str(named), "images": 96 + 16 - 1, "added": 16, "removed": 1, "index": None}
    assert first not in mc.Gallery.open(named)
    assert watched.seen == [("encoding", "images", 16, 16)]


def test_an_image_can_be_replaced_by_one_of_its_name(named, tmp_path):
    names = mc.Gallery.open(named).ids.tolist()
    again = write_store(tmp_path / "again.store").path
    with pytest.raises(ValueError, match=r"is in .* already: remove it first with `remove`"):
        mc.runs.update_gallery(named, again)
    assert mc.runs.update_gallery(named, again, remove=names)["images"] == 96


def more(tmp_path, n=16, seed=5):
    np.save(tmp_path / f"more{seed}.npy", labeled(n, seed=seed)[0])
    return tmp_path / f"more{seed}.npy"


def test_what_was_added_is_not_added_again(numbered, tmp_path):
    told, data = [], more(tmp_path)
    assert mc.runs.update_gallery(numbered, data)["images"] == 112
    mc.runs.update_gallery(numbered, more(tmp_path, seed=6))
    result = mc.runs.update_gallery(numbered, data, warn=told.append)
    assert result == {"path": str(numbered), "images": 128, "added": 0, "removed": 0, "index": None}
    assert told == [f"{data} was added to {numbered} already, and is not added again"]


def test_rows_with_names_that_were_added_are_not_in_their_own_way(named, tmp_path):
    data = write_store(tmp_path / "more.store", 16, seed=5, prefix="new ").path
    first = str(mc.Gallery.open(named).ids[0])
    for added in (16, 0):
        result = mc.runs.update_gallery(named, data, remove=[first], warn=lambda words: None)
        assert (result["images"], result["added"]) == (96 + 16 - 1, added)
    with pytest.raises(ValueError, match=r"was added to .* already; leave it out to remove images alone"):
        mc.runs.update_gallery(named, data, remove=["new 0"])


def test_images_that_were_added_and_are_all_removed_may_be_added_again(numbered, tmp_path):
    data = more(tmp_path)
    mc.runs.update_gallery(numbered, data)
    mc.runs.update_gallery(numbered, remove=list(range(96, 112)))
    assert mc.runs.update_gallery(numbered, data)["images"] == 112


def test_other_rows_of_the_same_file_are_added(numbered, tmp_path):
    data = more(tmp_path)
    mc.runs.update_gallery(numbered, data)
    np.save(data, labeled(16, seed=7)[0])
    assert mc.runs.update_gallery(numbered, data)["images"] == 128


@pytest.mark.parametrize("call", ["replace", "fsync", "unlink", "open", "pwrite"])
def test_whichever_call_fails_the_same_command_again_adds_everything_once(numbered, tmp_path, failing_call, call):
    data, hit, when = more(tmp_path), True, 0
    while hit:
        when += 1
        path = tmp_path / f"{when}.g"
        shutil.copytree(numbered, path)
        with failing_call(call, when) as hit, warnings.catch_warnings(record=True, action="always") as caught:
            try:
                images = mc.runs.update_gallery(path, data)["images"]
            except mc.StorageError:
                images = 96
        assert len(mc.Gallery.open(path)) == images
        assert images == 112 or not caught
        mc.runs.update_gallery(path, data, warn=lambda words: None)
        gallery = mc.Gallery.open(path)
        assert len(gallery) == 112
        assert {file.name for file in path.iterdir()} == names_of(read_gallery_manifest(path)[0])
    assert when > 2


def test_what_was_removed_just_now_is_not_missed(named):
    first, second, third = mc.Gallery.open(named).ids[:3].tolist()
    assert mc.runs.update_gallery(named, remove=[first, second])["removed"] == 2
    told, before = [], (named / "manifest.json").read_bytes()
    result = mc.runs.update_gallery(named, remove=[second, first, first], warn=told.append)
    assert result == {"path": str(named), "images": 94, "added": 0, "removed": 0, "index": None}
    assert told == [f"what is to be removed was removed from {named} already"]
    assert (named / "manifest.json").read_bytes() == before
    for others in ([first], [first, third], ["never there"]):  # another command, which finds less than it asks for
        with pytest.raises(ValueError, match="must have the image that is asked for"):
            mc.runs.update_gallery(named, remove=others)


def test_an_index_is_changed_though_there_is_nothing_else_to_do(named, tmp_path):
    pytest.importorskip("faiss")
    more = write_store(tmp_path / "more.store", 16, seed=5, prefix="new ").path
    first = str(mc.Gallery.open(named).ids[0])
    for change in ({"data": more}, {"remove": [first]}):
        for index in ("HNSW8", "Flat"):
            assert (
                mc.runs.update_gallery(named, **change, index=index, warn=lambda words: None)["index"]["kind"] == index
            )
            assert mc.Gallery.open(named).index == index


def test_an_image_that_came_back_is_removed_again(named, tmp_path):
    more = write_store(tmp_path / "more.store", 16, seed=5, prefix="new ").path
    mc.runs.update_gallery(named, more)
    names = mc.Gallery.open(named).ids[-16:].tolist()
    mc.runs.update_gallery(named, remove=names)
    assert mc.runs.update_gallery(named, more)["images"] == 112
    assert mc.runs.update_gallery(named, remove=names) == {
        "path": str(named),
        "images": 96,
        "added": 0,
        "removed": 16,
        "index": None,
    }


@pytest.mark.parametrize("call", ["replace", "fsync", "unlink", "open", "pwrite"])
def test_whichever_call_fails_the_same_command_again_leaves_what_is_removed_removed(named, failing_call, call):
    first = str(mc.Gallery.open(named).ids[0])
    hit, when = True, 0
    while hit:
        when += 1
        path = named.with_name(f"g{when}")
        shutil.copytree(named, path)
        with failing_call(call, when) as hit, warnings.catch_warnings(action="ignore"):
            try:
                mc.runs.update_gallery(path, remove=first)
            except mc.StorageError:
                assert len(mc.Gallery.open(path)) == 96
        mc.runs.update_gallery(path, remove=first, warn=str)
        assert len(mc.Gallery.open(path)) == 95
    assert when > 2


def test_leftovers_of_a_save_that_was_killed_are_tidied_up_by_the_next_command(numbered):
    for name in ("lock", "X-7.npy", "labels-7.safetensors.tmp", "retrieval-3.json"):
        (numbered / name).write_bytes(b"half")
    with pytest.raises(ValueError, match="it has no '1000'"):
        mc.runs.update_gallery(numbered, remove=[1000])
    assert {file.name for file in numbered.iterdir()} == names_of(read_gallery_manifest(numbered)[0])


def test_the_folder_of_pictures_is_remembered_once(named, tmp_path):
    for _ in range(2):
        mc.runs.update_gallery(named, pictures=tmp_path)
    assert mc.Gallery.open(named).provenance["pictures"] == [str(tmp_path.resolve())]


def test_rows_of_another_width_are_refused(numbered, tmp_path):
    np.save(tmp_path / "wide.npy", np.zeros((2, 13), np.float32))
    with pytest.raises(ValueError, match="must have 12 columns"):
        mc.runs.update_gallery(numbered, tmp_path / "wide.npy")


def test_names_do_not_go_into_a_gallery_of_numbers(numbered, tmp_path):
    with pytest.raises(ValueError, match="must know its rows by numbers"):
        mc.runs.update_gallery(numbered, write_store(tmp_path / "named.store").path)


def test_words_stand_for_numbers_in_a_gallery_of_numbers(numbered):
    gallery = mc.Gallery.open(numbered)
    assert known_ids(gallery, ["7", "0"], numbered) == [7, 0]
    with pytest.raises(ValueError, match="it has no 'x'; its images have numbers such as 0"):
        known_ids(gallery, ["x"], numbered)


def test_a_name_that_is_not_there_gets_a_hint(named):
    gallery = mc.Gallery.open(named)
    name = str(gallery.ids[0])
    with pytest.raises(ValueError, match=f"did you mean {name}"):
        known_ids(gallery, [name[:-1]], named)


@pytest.mark.parametrize("one", ["12", 12])
def test_one_id_is_one_image_and_not_its_digits(numbered, one):
    before = mc.Gallery.open(numbered).ids
    assert mc.runs.update_gallery(numbered, remove=one)["removed"] == 1
    assert set(before) - set(mc.Gallery.open(numbered).ids) == {12}


def test_numbers_may_be_given_as_numbers(numbered):
    assert mc.runs.update_gallery(numbered, remove=[5, "7"])["removed"] == 2


def fisher(seed=0):
    """An encoder of pictures."""
    settings = {"n_gaussians": 2, "descriptors": ("sift",), "n_components": 4, "scales": 1, "step": 8}
    encoder = mc.FisherVectors(**settings, n_samples=400, random_state=seed)
    return encoder.fit([picture(40, 44, seed=seed + i) for i in range(2)])


def by(path, encoder, seed=0, n=8):
    """A store of rows that an encoder gave, and that holds it unless it is None."""
    d = 16 if encoder is None else encoder.n_features_out_
    attachments = {} if encoder is None else {"encoder": b"".join(model_pieces(encoder))}
    X = np.random.default_rng(seed).standard_normal((n, d), np.float32)
    return mc.write_store(path, X, names=[f"{seed}/{i}" for i in range(n)], attachments=attachments).path


def test_rows_of_another_encoder_are_refused_and_the_way_out_is_one(tmp_path):
    mc.runs.build_gallery(by(tmp_path / "x.store", fisher()), tmp_path / "g", method="none")
    other, kept = by(tmp_path / "other.store", fisher(1), seed=1), tmp_path / "g" / "features-0.safetensors"
    words = f"{other} must come from the encoder of {tmp_path / 'g'}; it comes from another; .* with `kind='{kept}'`"
    with pytest.raises(ValueError, match=words):
        mc.runs.update_gallery(tmp_path / "g", other)
    assert len(mc.Gallery.open(tmp_path / "g")) == 8
    assert mc.runs.update_gallery(tmp_path / "g", by(tmp_path / "again.store", mc.load(kept), seed=2))["images"] == 16


def test_rows_of_the_same_encoder_are_added_whoever_wrote_it_and_if_they_are_compressed(tmp_path, monkeypatch):
    store, more = by(tmp_path / "x.store", fisher()), by(tmp_path / "more.store", fisher(), seed=1)
    mc.runs.compress(more, tmp_path / "codes.store", kind="scalar")
    mc.runs.build_gallery(store, tmp_path / "g", method="none")
    assert mc.runs.update_gallery(tmp_path / "g", tmp_path / "codes.store")["images"] == 16
    monkeypatch.setattr(mc, "__version__", "0.0.1")
    assert mc.runs.update_gallery(tmp_path / "g", by(tmp_path / "old.store", fisher(), seed=2))["images"] == 24


@pytest.mark.parametrize("encoders", [(None, fisher), (fisher, None)])
def test_where_an_encoder_is_not_known_rows_are_taken_by_their_width(tmp_path, encoders):
    first, second = (encoder and encoder() for encoder in encoders)
    mc.runs.build_gallery(by(tmp_path / "x.store", first), tmp_path / "g", method="none")
    assert mc.runs.update_gallery(tmp_path / "g", by(tmp_path / "more.store", second, seed=1))["images"] == 16


def test_a_network_is_the_same_elsewhere_and_another_one_is_not(tmp_path):
    here, there = tmp_path / "net.onnx", tmp_path / "moved" / "net.onnx"
    there.parent.mkdir()
    shutil.copy(networks.tiny(here), there)
    mc.runs.build_gallery(by(tmp_path / "x.store", mc.OnnxFeatures(here).fit()), tmp_path / "g", method="none")
    moved = by(tmp_path / "moved.store", mc.OnnxFeatures(there, batch_size=2).fit(), seed=1)
    pooled = by(tmp_path / "pooled.store", mc.OnnxFeatures(there, pooling="max").fit(), seed=2)
    here.unlink()
    assert mc.runs.update_gallery(tmp_path / "g", moved)["images"] == 16
    with pytest.raises(ValueError, match="must come from the encoder of"):
        mc.runs.update_gallery(tmp_path / "g", pooled)


GOOD = {"source": "x", "sha256": "0" * 64, "first": 0, "rows": 1, "removed": []}


@pytest.mark.parametrize(
    "said",
    [
        *({"added": added} for added in ([1], "x", 5, None, [{}], {"a": 1}, [GOOD, 1])),
        *({"added": [{**GOOD, **wrong}]} for wrong in ({"first": "a"}, {"rows": None}, {"sha256": 5}, {"removed": 1})),
        *({"pictures": pictures} for pictures in (5, "abc", {"a": 1}, None, [1])),
    ],
)
def test_a_manifest_that_says_nonsense_of_what_was_added_is_refused_in_a_sentence(numbered, tmp_path, said):
    manifest = unseal((numbered / "manifest.json").read_bytes())
    manifest["provenance"].update(said)
    (numbered / "manifest.json").write_bytes(seal(manifest))
    (key,) = said
    with pytest.raises(mc.StorageError, match=f"must have in its provenance, as '{key}', what manyclass encode writes"):
        mc.runs.update_gallery(numbered, more(tmp_path), pictures=tmp_path)
    assert mc.runs.update_gallery(numbered, remove=[0])["images"] == 95  # which needs neither
