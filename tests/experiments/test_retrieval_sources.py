"""The retrieval experiments' data, out of tiny archives in the form of the real ones."""

import io
import json
import tarfile

import numpy as np
import pytest
from PIL import Image

from experiments import picture_features, retrieval_sources
from experiments.local_features import patches
from manyclass.evaluation import mean_average_precision

PHONES = ("Canon", "Droid", "Reference")


def write_archive(path, pictures, files=()):
    with tarfile.open(path, "w:gz" if path.suffix == ".gz" else "w") as tar:
        for name, picture in pictures.items():
            stream = io.BytesIO()
            Image.fromarray(picture).save(stream, "PNG" if name.endswith(".png") else "JPEG", quality=95)
            add(tar, name, stream.getvalue())
        for name, data in files:
            add(tar, name, data)


def add(tar, name, data):
    member = tarfile.TarInfo(name)
    member.size = len(data)
    tar.addfile(member, io.BytesIO(data))


def blotches(seed):
    """A picture of 4 x 4 colored squares."""
    colors = np.random.default_rng(seed).integers(0, 256, (4, 4, 3), dtype=np.uint8)
    return colors.repeat(20, axis=0).repeat(20, axis=1)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("data")
    write_archive(root / "caltech_x.tar", {f"c/images/{i}.jpg": blotches(100 + i) for i in range(8)})
    # Written last number first: order is by name.
    covers = {f"d/{phone}/{i:03d}.jpg": blotches(i) for i in range(4, 0, -1) for phone in PHONES}
    write_archive(root / "smvs_dvd_x.tar", covers)
    frames = {f"v/{part}/{i:07d}.jpg": blotches(50 + i) for i in range(3) for part in ("query", "ref")}
    places = {str(i): [i] for i in range(3)}
    write_archive(root / "vpr_corridor_x.tar", frames, [("v/ground_truth.json", json.dumps(places).encode())])
    drawings = {
        f"o/{alphabet}/c{c}/{i}.png": blotches(10 * c + ord(alphabet))
        for alphabet in "AB"
        for c in (1, 2)
        for i in range(5)
    }
    write_archive(root / "omniglot_x.tar.gz", drawings)
    return root


SETS = {"DVD covers": (8, 12, 12), "corridor": (8, 3, 3), "Omniglot": (10, 6, 4)}
FOUND = [(name, feature) for name in ("DVD covers", "corridor") for feature in retrieval_sources.PHOTOGRAPHS]
FOUND += [("Omniglot", feature) for feature in retrieval_sources.DRAWINGS]


def test_a_folder_offers_what_it_has(folder, tmp_path):
    drawn = [("glyphs", feature) for feature in retrieval_sources.DRAWINGS]
    assert list(retrieval_sources.available(folder)) == FOUND + drawn
    assert list(retrieval_sources.available(tmp_path)) == list(retrieval_sources.available(None)) == drawn


@pytest.mark.parametrize(("name", "feature"), FOUND)
def test_equal_pictures_are_found(folder, name, feature):
    search = retrieval_sources.available(folder)[name, feature]()
    assert tuple(len(rows) for rows in search[:3]) == SETS[name]
    for rows in search[:3]:
        assert rows.dtype == np.float32
        np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    scores = search.queries @ search.database.T
    assert mean_average_precision(scores, search.truth, search.protocol) > 0.99


def test_halves_share_no_cover(folder):
    search = retrieval_sources.dvd_covers(folder, "colors")
    first, second = search.halves()
    assert len(first.queries) == len(second.queries) == 6
    covers = [
        {search.truth.names[row] for query in half.truth.queries for row in query.positives} for half in (first, second)
    ]
    assert not covers[0] & covers[1]
    scores = second.queries @ second.database.T
    assert mean_average_precision(scores, second.truth, "holidays") > 0.99


def test_negatives_of_drawings_are_of_other_alphabets(folder):
    search = retrieval_sources.omniglot(folder, "thumbnails")
    alike = search.queries @ search.negatives.T
    assert alike.max() < 0.99 < (search.queries @ search.database.T).max()


@pytest.mark.parametrize("quarters", [1, 2, 3])
def test_patches_of_a_turned_picture_are_the_same(quarters):
    picture = np.random.default_rng(0).integers(0, 256, (240, 240), dtype=np.uint8)
    P, Q = (patches(Image.fromarray(turned)) for turned in (picture, np.rot90(picture, quarters)))
    assert P.shape == Q.shape
    # Where two directions are equally strong, rounding chooses between them.
    assert np.quantile((P[::50] @ Q.T).max(axis=1), 0.02) > 0.999


def test_colors_count_pixels():
    picture = np.zeros((1, picture_features.SIDE, picture_features.SIDE, 3), np.uint8)
    picture[:, :, picture_features.SIDE // 2 :] = 255
    found = picture_features.colors(picture)[0].reshape(5, 125)
    # Half black and half white, and quarters of one color each; five parts of length 1, made one together.
    np.testing.assert_allclose(found[:, [0, -1]] ** 2 * 5, [[0.5, 0.5], [1, 0], [0, 1], [1, 0], [0, 1]], atol=1e-6)
