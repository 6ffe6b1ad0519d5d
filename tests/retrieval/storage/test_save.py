"""A saved gallery: the same answers, little to write, nothing wrong unnoticed, and whole after a kill at any moment."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import manyclass as mc
from manyclass._core.errors import DurabilityWarning
from manyclass.retrieval.storage import save, segments
from tests.retrieval.storage import child

X = np.random.default_rng(0).standard_normal((60, 6)).astype(np.float32)
CHILD = [sys.executable, "-B", child.__file__]


def same(a, b):
    """Whether two galleries hold and find the same, to the bit."""
    x, y = a.search(X[:5], 100), b.search(X[:5], 100)
    assert x.ids.tolist() == y.ids.tolist()
    assert x.scores.tobytes() == y.scores.tobytes()
    np.testing.assert_array_equal(x.expected_false_matches, y.expected_false_matches)
    assert a.ids.tolist() == b.ids.tolist()
    assert a.metadata(a.ids) == b.metadata(b.ids)


@pytest.fixture
def make():
    negatives = np.random.default_rng(1).standard_normal((100, 6))
    encoders = {
        "vectors": lambda: mc.Gallery(),
        "vectors with a pool": lambda: mc.Gallery(background=negatives, false_match=0.2),
        "square loss": lambda: mc.Gallery(mc.SquareLossExemplar(random_state=0).fit(negatives)),
        "two stages": lambda: mc.Gallery(
            mc.SquareLossExemplar(random_state=0).fit(negatives),
            reranker=mc.ExemplarLDA(random_state=0).fit(negatives),
            n_candidates=7,
        ),
        "a second stage alone": lambda: mc.Gallery(reranker=mc.ExemplarLDA(random_state=0).fit(negatives)),
    }
    return lambda kind: encoders[kind]()


@pytest.mark.parametrize(
    "kind", ["vectors", "vectors with a pool", "square loss", "two stages", "a second stage alone"]
)
@pytest.mark.parametrize("strings", [True, False])
def test_an_opened_gallery_answers_as_the_one_that_was_saved(tmp_path, make, kind, strings):
    g = make(kind)
    ids = [f"é{i}" if strings else -i for i in range(60)]
    g.add(X, ids=ids, metadata={"n": list(range(60))})
    g.remove(ids[3:30:5])
    g.update(ids[7], X[0])
    g.save(tmp_path / "g")
    opened = mc.Gallery.open(tmp_path / "g")
    same(opened, g)
    assert opened.false_match == g.false_match
    opened.add(X[:1], ids=["new" if strings else 1000])
    opened.save()
    same(mc.Gallery.open(tmp_path / "g"), opened)


@pytest.mark.parametrize("kind", ["vectors", "vectors with a pool", "two stages", "a second stage alone"])
def test_an_empty_gallery_may_be_saved_opened_and_filled(tmp_path, make, kind):
    make(kind).save(tmp_path / "g")
    g = mc.Gallery.open(tmp_path / "g")
    assert len(g) == 0
    g.add(X)
    g.save()
    assert len(mc.Gallery.open(tmp_path / "g")) == 60


def written(path, change):
    """Bytes of the files that a change wrote, without the manifest, and the bytes of that."""
    before = {file.name: file.stat().st_mtime_ns for file in path.iterdir()}
    time.sleep(0.01)
    change()
    new = [file for file in path.iterdir() if before.get(file.name) != file.stat().st_mtime_ns]
    manifest = path / "manifest.json"
    return sum(file.stat().st_size for file in new if file != manifest), manifest.stat().st_size


def test_to_add_a_few_images_writes_a_few_rows_and_to_remove_some_a_short_list(tmp_path):
    rng, path = np.random.default_rng(0), tmp_path / "g"
    g = mc.Gallery()
    g.add(rng.standard_normal((20_000, 64), dtype=np.float32))
    g.save(path)
    g.add(rng.standard_normal((20, 64), dtype=np.float32))
    rows, manifest = written(path, g.save)
    assert 20 * 64 * 4 <= rows < 20 * 64 * 4 + 2000
    assert manifest < 4000
    g.remove(range(100, 110))
    rows, _ = written(path, g.save)
    assert 0 < rows < 1000
    assert written(path, g.save)[0] == 0
    assert mc.Gallery.open(path).ids.tolist() == g.ids.tolist()


def test_many_small_saves_leave_few_files_and_write_a_row_only_as_often_as_the_gallery_doubles(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)
    path, g, total = tmp_path / "g", mc.Gallery(), 0
    g.save(path)
    for i in range(64):
        g.add(np.full((10, 16), i + 1.0))
        g.remove([10 * i])
        total += written_rows(g)
        assert len(list(path.iterdir())) < 40
    assert mc.Gallery.open(path).ids.tolist() == g.ids.tolist()
    assert total < 640 * np.log2(64)


def written_rows(g):
    """Save, and count the rows of new segments."""
    old = {segment["labels"]["name"] for segment in g.state().saved.content["segments"]}
    g.save()
    return sum(s["rows"] for s in g.state().saved.content["segments"] if s["labels"]["name"] not in old)


def test_when_most_rows_are_gone_all_is_written_anew(tmp_path):
    g = mc.Gallery()
    g.add(np.ones((3000, 16)))
    g.save(tmp_path / "g")
    before = sum(file.stat().st_size for file in (tmp_path / "g").iterdir())
    g.remove(range(2900))
    g.save()
    assert sum(file.stat().st_size for file in (tmp_path / "g").iterdir()) < before / 5
    assert mc.Gallery.open(tmp_path / "g").ids.tolist() == list(range(2900, 3000))


def test_large_galleries_are_written_in_several_segments(tmp_path, monkeypatch):
    monkeypatch.setattr(save, "SEGMENT_BYTES", 16 * 4 * 100)
    g = mc.Gallery()
    g.add(np.random.default_rng(0).standard_normal((250, 16)))
    g.save(tmp_path / "g")
    assert len(list((tmp_path / "g").glob("X-*.npy"))) == 3
    opened = mc.Gallery.open(tmp_path / "g")
    np.testing.assert_array_equal(opened.codes(opened.ids), g.codes(g.ids))
    opened.add(np.ones((1, 16)))
    opened.save()
    assert len(mc.Gallery.open(tmp_path / "g")) == 251


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A folder with every kind of file."""
    path = tmp_path_factory.mktemp("saved") / "g"
    g = mc.Gallery(
        mc.SquareLossExemplar(random_state=0).fit(X), reranker=mc.ExemplarLDA(random_state=0).fit(X), n_candidates=9
    )
    g.add(X, ids=[f"i{i}" for i in range(60)], metadata={"n": list(range(60))})
    g.save(path)
    g.remove("i3")
    g.add(X[:2], ids=["x", "y"])
    g.save()
    return path


def test_a_flipped_bit_anywhere_is_found(tmp_path, saved):
    rng = np.random.default_rng(0)
    for file in sorted(saved.iterdir()):
        data = file.read_bytes()
        for place in [0, len(data) - 1, *rng.integers(len(data), size=6)]:
            path = tmp_path / "g"
            shutil.copytree(saved, path)
            wrong = bytearray(data)
            wrong[place] ^= 1 << int(rng.integers(8))
            (path / file.name).write_bytes(wrong)
            with pytest.raises(ValueError, match=str(path)) as caught:
                mc.Gallery.open(path)
            assert "\n" not in str(caught.value)
            shutil.rmtree(path)


def test_a_missing_or_cut_file_is_found(tmp_path, saved):
    for file in sorted(saved.iterdir()):
        for cut in (None, file.stat().st_size // 2):
            path = tmp_path / "g"
            shutil.copytree(saved, path)
            (path / file.name).unlink()
            if cut is not None:
                (path / file.name).write_bytes(file.read_bytes()[:cut])
            with pytest.raises(mc.StorageError):
                mc.Gallery.open(path)
            shutil.rmtree(path)


def test_a_sealed_file_of_another_gallery_is_not_taken(tmp_path, saved):
    path = tmp_path / "g"
    shutil.copytree(saved, path)
    first, second = sorted(path.glob("labels-*"))
    shutil.copy(first, second)
    with pytest.raises(mc.StoreCorruptedError, match="does not match its checksum"):
        mc.Gallery.open(path)


def test_a_gallery_is_not_written_over_another_unless_asked(tmp_path, saved):
    path = tmp_path / "g"
    shutil.copytree(saved, path)
    g = mc.Gallery()
    g.add(X[:2])
    with pytest.raises(mc.StorageError, match="holds another gallery of 61 images; pass overwrite=True"):
        g.save(path)
    g.save(path, overwrite=True)
    assert len(mc.Gallery.open(path)) == 2
    assert len(list(path.iterdir())) == 3


def test_two_that_write_one_folder_do_not_undo_each_other(tmp_path, saved):
    path = tmp_path / "g"
    shutil.copytree(saved, path)
    one, two = mc.Gallery.open(path), mc.Gallery.open(path)
    one.add(X[:1], ids=["one"])
    one.save()
    two.add(X[:1], ids=["two"])
    with pytest.raises(mc.StorageError, match="was changed since it was opened"):
        two.save()


def test_a_store_a_full_folder_and_a_file_are_not_written_over(tmp_path):
    mc.write_store(tmp_path / "s", X)
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "photo.jpg").touch()
    (tmp_path / "file").touch()
    for name in ("s", "folder", "file"):
        with pytest.raises(mc.StorageError):
            mc.Gallery().save(tmp_path / name)
        with pytest.raises(mc.StorageError):
            mc.Gallery().save(tmp_path / name, overwrite=True)
    assert len(mc.open_store(tmp_path / "s")) == 60


def test_what_is_no_gallery_is_told_so(tmp_path):
    mc.write_store(tmp_path / "s", X)
    with pytest.raises(mc.StorageError, match="must hold a manyclass gallery; it holds a manyclass store"):
        mc.Gallery.open(tmp_path / "s")
    with pytest.raises(mc.StorageError, match="is not a gallery"):
        mc.Gallery.open(tmp_path / "nothing")
    with pytest.raises(ValueError, match="path must be given"):
        mc.Gallery().save()


def test_a_manifest_that_is_sealed_and_wrong_is_one_sentence(tmp_path, saved):
    from manyclass.retrieval.storage.segments import read_gallery_manifest, write_gallery_manifest

    content, _ = read_gallery_manifest(saved)
    hostile = [
        {"images": 3}, {"segments": 7}, {"widths": [6]}, {"models": {}}, {"gone": [{"name": "../x", "sha256": ""}]},
        {"settings": {"nonsense": 1}}, {"segments": content["segments"][::-1]},
        {"segments": content["segments"] + content["segments"][:1]},
    ]  # fmt: skip
    for i, wrong in enumerate(hostile):
        path = tmp_path / str(i)
        shutil.copytree(saved, path)
        write_gallery_manifest(path, {k: v for k, v in content.items() if k not in ("format", "version")} | wrong)
        with pytest.raises(mc.StorageError) as caught:
            mc.Gallery.open(path)
        assert "\n" not in str(caught.value)


def check_state(path, told):
    """The folder holds exactly the state after some step, at least the last that the child told of."""
    g = child.opened(path)
    steps = child.steps_in(g)
    assert steps in (told, told + 1)
    fresh = child.after(steps)
    assert g.ids.tolist() == fresh.ids.tolist()
    if len(g):
        np.testing.assert_array_equal(g.codes(g.ids), fresh.codes(fresh.ids))
    return steps


def test_killed_at_random_moments_it_holds_the_last_state_or_the_one_before(tmp_path):
    path, rng, told = tmp_path / "g", np.random.default_rng(0), 0
    for _ in range(3):
        process = subprocess.Popen([*CHILD, "steps", path, "400"], stdout=subprocess.PIPE)
        process.stdout.readline()
        for _ in range(rng.integers(1, 6)):
            told = int(process.stdout.readline())
        time.sleep(rng.uniform(0, 0.02))
        process.kill()
        told = max([told, *map(int, process.stdout.read().split(b"\n")[:-1])])
        process.stdout.close()
        process.wait()
        told = check_state(path, told)
    assert told >= 3


@pytest.mark.parametrize(("call", "least"), [("pwrite", 4), ("fsync", 8), ("replace", 4), ("unlink", 1)])
def test_killed_at_each_call_that_changes_the_disk_it_is_old_or_new_and_goes_on(tmp_path, monkeypatch, call, least):
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)
    child.after(2).save(tmp_path / "start")
    (tmp_path / "killed").mkdir()
    subprocess.run([*CHILD, "killed", tmp_path / "start", tmp_path / "killed", call], check=True, capture_output=True)
    killed = list((tmp_path / "killed").iterdir())
    assert len(killed) >= least
    for path in killed:
        steps = check_state(path, 2)
        g = child.opened(path)
        if steps == 2:
            child.change(g, 2)
        g.save()
        assert check_state(path, 3) == 3
        left = {file.name for file in path.iterdir()}
        assert left == segments.names_of(g.state().saved.content)


def test_names_are_given_after_their_files_are_synced_and_the_manifest_last(tmp_path, monkeypatch):
    log, fsync, replace = [], os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda fd: log.append(os.readlink(f"/proc/self/fd/{fd}")) or fsync(fd))
    monkeypatch.setattr(os, "replace", lambda a, b: log.append((str(a), str(b))) or replace(a, b))
    if not Path("/proc/self/fd").exists():
        pytest.skip("/proc tells which file is synced")
    child.after(3).save(tmp_path / "g")
    renames = [i for i, entry in enumerate(log) if isinstance(entry, tuple)]
    assert log[renames[-1]][1] == str(tmp_path / "g" / "manifest.json")
    for i in renames:
        assert log[i][0] in log[:i]
        assert log[i + 1] == str(tmp_path / "g")


def test_removals_over_many_saves_add_up(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)
    g = mc.Gallery()
    g.add(np.ones((500, 3)))
    g.save(tmp_path / "g")
    for i in range(12):
        g.remove(range(20 * i, 20 * i + 1 + i % 3))
        g.save()
        assert mc.Gallery.open(tmp_path / "g").ids.tolist() == g.ids.tolist()
    assert len(list((tmp_path / "g").glob("gone-*"))) <= 5


def test_images_that_are_added_after_the_last_ones_were_removed_are_saved(tmp_path):
    g = mc.Gallery()
    g.add(np.ones((1200, 3)))
    g.save(tmp_path / "g")
    g.remove(range(1190, 1200))
    g.add(np.ones((4000, 3)))
    g.remove(range(1200, 5200))  # so many that the gallery closes up
    g.add(np.ones((5, 3)))
    g.save()
    assert mc.Gallery.open(tmp_path / "g").ids.tolist() == [*range(1190), *range(5200, 5205)]


def test_settings_that_were_changed_are_saved_though_no_image_was(tmp_path):
    g = mc.Gallery()
    g.add(np.eye(3))
    g.save(tmp_path / "g")
    g.false_match, g.n_candidates = 0.2, 7
    g.save()
    again = mc.Gallery.open(tmp_path / "g")
    assert (again.false_match, again.n_candidates) == (0.2, 7)


def test_an_encoder_of_pictures_is_saved_and_read_when_it_is_needed(tmp_path):
    from tests.features.hostile import picture

    images = [picture(40, 60, seed=i) for i in range(6)]
    features = mc.BagOfWords(n_words=4, descriptors=("sift",), n_components=4, n_samples=500, scales=1, random_state=0)
    features.fit(images)
    g = mc.Gallery(features=features, provenance={"source": "photos"})
    g.add(features.transform(images), ids=list("abcdef"))
    g.save(tmp_path / "g")
    opened = mc.Gallery.open(tmp_path / "g")
    assert opened.provenance == {"source": "photos"}
    assert opened.search_images(images[2:3], k=1).ids.tolist() == [["c"]]
    next((tmp_path / "g").glob("features-*")).unlink()
    opened = mc.Gallery.open(tmp_path / "g")
    assert opened.search(features.transform(images[1:2]), k=1).ids.tolist() == [["b"]]
    with pytest.raises(mc.StoreCorruptedError, match=r"features-0\.safetensors is missing"):
        opened.search_images(images[:1])


def test_pictures_need_an_encoder_of_pictures():
    with pytest.raises(ValueError, match="needs a gallery with features"):
        mc.Gallery().search_images(["a.jpg"])


def test_a_changed_provenance_is_saved_though_no_image_changed(tmp_path):
    g = mc.Gallery()
    g.add(X)
    g.save(tmp_path / "g")
    g.provenance["source"] = "elsewhere"
    g.save()
    assert mc.Gallery.open(tmp_path / "g").provenance == {"source": "elsewhere"}


def test_a_record_beside_the_files_is_neither_in_the_way_nor_removed(tmp_path):
    (tmp_path / "g").mkdir()
    (tmp_path / "g" / "retrieval.json").write_text("{}")
    g = mc.Gallery()
    g.add(X)
    g.save(tmp_path / "g")
    assert (tmp_path / "g" / "retrieval.json").read_text() == "{}"


@pytest.mark.parametrize("kind", ["symlink", "pipe"])
@pytest.mark.parametrize(
    "name", ["lock", "manifest.json.tmp", "X-1.npy.tmp", "labels-1.safetensors.tmp", "gone-1.safetensors.tmp"]
)
def test_what_is_planted_in_a_folder_is_replaced_and_never_written_through(tmp_path, name, kind):
    path, mine = tmp_path / "g", tmp_path / "mine"
    mine.write_bytes(b"precious")
    g = mc.Gallery()
    g.add(X)
    g.save(path)
    if kind == "symlink":
        (path / name).symlink_to(mine)
    else:
        os.mkfifo(path / name)
    g.remove([3])
    g.add(X[:2])
    g.save()
    assert mine.read_bytes() == b"precious"
    assert len(mc.Gallery.open(path)) == 61
    assert {file.name for file in path.iterdir()} == segments.names_of(g.state().saved.content)


@pytest.mark.parametrize("call", ["fsync", "unlink"])
def test_what_fails_after_the_commit_is_a_warning(tmp_path, monkeypatch, call):
    g, replace, refused = mc.Gallery(), os.replace, []
    g.add(X)
    g.save(tmp_path / "g")
    g.remove([3])
    g.save()
    g.remove([4, 5])

    def refuse(*arguments, **more):
        refused.append(arguments)
        raise OSError(5, "Input/output error")

    def commit(source, target):
        replace(source, target)
        if Path(target).name == "manifest.json":
            monkeypatch.setattr(os, call, refuse)

    monkeypatch.setattr(os, "replace", commit)
    with pytest.warns(DurabilityWarning, match="is written, but the disk has not confirmed that this lasts"):
        g.save()
    assert refused
    assert len(mc.Gallery.open(tmp_path / "g")) == 57


def test_the_names_of_the_format_stay_as_they_are(tmp_path):
    """Galleries that were written before `Gallery` renamed its parameters must still open."""
    reranker = mc.ExemplarLDA(random_state=0).fit(X)
    g = mc.Gallery(reranker=reranker, n_candidates=7, background=X[:9])
    g.add(X)
    g.save(tmp_path / "g")
    content, _ = segments.read_gallery_manifest(tmp_path / "g")
    assert content["settings"]["shortlist"] == 7
    assert content["models"]["second"]["name"].startswith("second-")
    assert list(segments.read_section(tmp_path / "g", content["models"]["pool"])[1]) == ["pool"]
    found = mc.Gallery.open(tmp_path / "g")
    assert (found.n_candidates, type(found.reranker)) == (7, mc.ExemplarLDA)
    np.testing.assert_array_equal(found.search(X[:3]).expected_false_matches, g.search(X[:3]).expected_false_matches)


def labeled_gallery():
    g = mc.Gallery(things="class")
    g.add(X, metadata={"class": [f"{i % 25}" for i in range(60)]})
    return g


def test_what_tells_strangers_is_saved_and_not_worked_out_again(tmp_path, monkeypatch):
    g = labeled_gallery()
    g.save(tmp_path / "g")
    g.add(X[:1] + 1, metadata={"class": ["new"]})
    g.remove(5)
    g.save()
    assert len(list((tmp_path / "g").glob("null-*.safetensors"))) == 1
    expected = g.search(X + 0.1).p_values
    opened = mc.Gallery.open(tmp_path / "g")
    monkeypatch.setattr("manyclass.retrieval.neighbors.NeighborTable._work_out", None)
    np.testing.assert_array_equal(opened.search(X + 0.1).p_values, expected)
    assert opened.state().neighbors.things == "class"


def test_neighbors_that_are_damaged_are_noticed(tmp_path):
    labeled_gallery().save(tmp_path / "g")
    (file,) = (tmp_path / "g").glob("null-*.safetensors")
    data = bytearray(file.read_bytes())
    data[-1] ^= 1
    file.write_bytes(data)
    with pytest.raises(mc.StoreCorruptedError, match=file.name):
        mc.Gallery.open(tmp_path / "g")


@pytest.mark.parametrize(
    "arrays",
    [
        {"numbers": np.array([99]), "scores": np.zeros((1, 2), np.float32), "neighbors": np.array([[1, 2]])},
        {"numbers": np.array([1]), "scores": np.zeros((1, 2), np.float32), "neighbors": np.array([[1, 99]])},
        {"numbers": np.array([1]), "scores": np.zeros((2, 2), np.float32), "neighbors": np.array([[1, 2]])},
    ],
)
def test_neighbors_of_another_gallery_are_refused(arrays):
    g = labeled_gallery()
    with pytest.raises(ValueError, match="neighbors of images must be"):
        g.state().neighbors.restore(g.state().catalog, arrays)


def test_a_gallery_of_before_is_judged_by_its_classes(tmp_path):
    g = labeled_gallery()
    g.save(tmp_path / "g")
    content, _ = segments.read_gallery_manifest(tmp_path / "g")
    content = {key: value for key, value in content.items() if key not in ("null", "format", "version")}
    segments.write_gallery_manifest(tmp_path / "g", content)
    old = mc.Gallery.open(tmp_path / "g")
    np.testing.assert_array_equal(old.search(X + 0.1).p_values, g.search(X + 0.1).p_values)
    old.remove(5)
    old.save()
    assert segments.read_gallery_manifest(tmp_path / "g")[0]["null"]["things"] == "class"
