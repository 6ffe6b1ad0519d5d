"""Many images through one encoder: in order, in chunks that do not depend on the start, each with its own fate."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import manyclass as mc
from manyclass.features.extraction.encoding import (
    EncodedImage,
    Encoding,
    encode_images,
    fit_quantizer,
    is_fitted,
    quantize_rows,
    sample_size,
)
from manyclass.features.extraction.processes import CAN_FORK
from tests.features.child import Means, Pairs
from tests.features.extraction.written import many_images
from tests.features.hostile import picture


def rows_of(outcomes):
    return [outcome.row for found in outcomes for outcome in found]


@pytest.mark.parametrize("n", [0, 1, 5, 40])
@pytest.mark.parametrize("n_threads", [1, 3])
def test_rows_come_in_the_order_of_the_images(n, n_threads):
    images = many_images(n)
    with mc.threads(n_threads):
        found = encode_images(images, Means())
    assert found.shape == (n, 12)
    assert_array_equal(found, np.reshape([Means().encode(image) for image in images], (n, 12)))


@pytest.mark.skipif(not CAN_FORK, reason="processes are forked")
@pytest.mark.parametrize(("width", "together"), [(12, 4), (4096, 4), (1 << 15, 2), (1 << 17, 1)])
def test_short_rows_come_from_a_process_by_fours(width, together, monkeypatch):
    class Wide(Means):
        forks = True
        n_features_out_ = width

        def encode(self, image):
            return np.full(width, image.mean(), np.float32)

    sizes = []

    def map_here(self, groups, on_crash):
        sizes.extend(map(len, groups))
        return map(self._work, groups)

    monkeypatch.setattr("manyclass.features.extraction.processes.WorkerProcesses.map", map_here)
    images = many_images(22)
    with mc.threads(2):
        found = encode_images(images, Wide())
    assert_array_equal(found[:, -1], np.array([image.mean() for image in images], np.float32))
    assert (max(sizes), sum(sizes)) == (together, 22)


def test_a_bad_image_is_named_by_its_path_or_its_position(tmp_path):
    (tmp_path / "b.png").write_bytes(b"")
    with pytest.raises(mc.ImageError, match=r"image .*b\.png is empty"):
        encode_images([tmp_path / "b.png"], Means())
    with pytest.raises(mc.ImageError, match="image 1 "):
        encode_images([picture(), np.zeros((0, 3, 3), np.uint8)], Means())


@pytest.mark.parametrize(("n", "sizes"), [(0, []), (1, [1]), (4, [2, 2]), (5, [2, 2, 1])])
def test_chunks_are_as_large_as_the_encoder_likes(n, sizes):
    assert [len(chunk) for chunk in Encoding(many_images(n), Pairs()).chunks()] == sizes


@pytest.mark.parametrize("start", [0, 1, 4, 7])
def test_bits_do_not_depend_on_where_a_run_begins(start):
    encoding = Encoding(many_images(7), Pairs())
    whole, rest = (list(encoding.encode_from(first, {})) for first in (0, start))
    assert [outcome.position for found in rest for outcome in found] == list(range(start, 7))
    assert [row.tobytes() for row in rows_of(rest)] == [row.tobytes() for row in rows_of(whole)][start:]


@pytest.mark.parametrize("n", [3, 4, 5])
def test_where_all_are_encoded_nothing_is_left(n):
    encoding = Encoding(many_images(n), Pairs())
    assert encoding.chunks(n) == []
    assert list(encoding.encode_from(n, {})) == []


def test_what_is_known_is_not_encoded_again():
    row = np.zeros(12, np.float32)
    known = {2: [EncodedImage(2, row), EncodedImage(3, None, "is bad")]}
    found = [one for chunk in Encoding(many_images(5), Pairs()).encode_from(1, known) for one in chunk]
    assert [one.position for one in found] == [1, 2, 3, 4]
    assert found[1].row is row
    assert found[2].reason == "is bad"
    assert known == {}


class Choosy(Pairs):
    """Encodes no image of 13 rows, and gives NaN for one of 14; together it refuses all that hold such a one."""

    forks = False

    def encode_many(self, images):
        if any(len(image) == 13 for image in images):
            raise ValueError("13 rows")
        rows = super().encode_many(images)
        rows[[len(image) == 14 for image in images]] = np.nan
        return rows


def test_one_image_that_cannot_be_encoded_costs_no_other():
    encoding = Encoding([picture(height, 20) for height in (12, 13, 14, 15)], Choosy())
    found = [one for chunk in encoding.encode_chunks(encoding.chunks()) for one in chunk]
    assert [one.row is None for one in found] == [False, True, True, False]
    assert [one.reason for one in found[1:3]] == [
        "cannot be encoded: 13 rows",
        "has features that are NaN or infinite",
    ]


def test_an_encoder_of_another_width_than_it_says_is_an_error():
    class Wrong(Means):
        n_features_out_ = 13

    with pytest.raises(ValueError, match=r"the encoder must give 13 numbers; got shape \(12,\) for image 0"):
        encode_images(many_images(1), Wrong())


def test_one_row_that_cannot_be_quantized_costs_no_other():
    quantizer = mc.ScalarQuantizer().fit(np.random.default_rng(0).random((50, 3)))
    good, bad = np.full(3, 0.5, np.float32), np.full(3, np.nan, np.float32)
    group = [[EncodedImage(0, good), EncodedImage(1, bad)], [EncodedImage(2, None, "is bad"), EncodedImage(3, good)]]
    (a, b), (c, d) = quantize_rows(group, quantizer)
    assert a.row.dtype == np.uint8
    assert_array_equal(a.row, d.row)
    assert b.row is None
    assert b.reason.startswith("cannot be quantized: ")
    assert c.reason == "is bad"


def test_a_quantizer_learns_from_a_sample_whose_codes_are_kept():
    encoding, seen = Encoding(many_images(20), Means()), []
    given = mc.ScalarQuantizer()
    fitted, known = fit_quantizer(given, encoding, 6, 0, lambda done, total: seen.append((done, total)))
    assert (is_fitted(given), is_fitted(fitted)) == (False, True)
    assert len(known) == 6
    assert seen == [(i, 20) for i in range(1, 7)]
    for position, (outcome,) in known.items():
        row = Means().encode(encoding.images[position])
        assert_array_equal(outcome.row, fitted.encode_rows(row[None])[0])


def test_a_quantizer_without_any_good_image_says_what_is_wrong_with_the_first():
    encoding = Encoding([picture(13, 20)] * 3, Choosy())
    with pytest.raises(ValueError, match="no image has one: the first cannot be encoded: 13 rows"):
        fit_quantizer(mc.ScalarQuantizer(), encoding, None, 0)


def test_long_rows_are_sampled_less_but_never_not_at_all():
    assert sample_size(1 << 30, None) == 1
    with pytest.raises(ValueError, match="sample must be a whole number"):
        sample_size(8, 0)


def test_a_span_of_chunks_is_encoded_as_in_a_run_of_all():
    encoding = Encoding(many_images(11), Pairs())
    whole = [outcome for found in encoding.encode_from(0, {}) for outcome in found]
    part = [outcome for found in encoding.encode_from(4, {}, 8) for outcome in found]
    assert [outcome.position for outcome in part] == [4, 5, 6, 7]
    assert_array_equal([outcome.row for outcome in part], [outcome.row for outcome in whole[4:8]])


@pytest.mark.parametrize("size", [1, 3, 4])
def test_chunks_of_a_part_are_those_of_the_whole(size):
    encoding = Encoding([None] * 11, Pairs())
    object.__setattr__(encoding.encoder, "batch_size", size)
    whole = encoding.chunks()
    for start in range(11):
        for stop in (*range(start + 1, 11), None):
            met = [chunk for chunk in whole if start < chunk.stop and (stop is None or chunk.start < stop)]
            assert encoding.chunks(start, stop) == met
