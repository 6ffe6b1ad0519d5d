"""Processes that decode pictures and may die of one."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from manyclass.features.images.pixels import ImageError
from manyclass.server.picture_workers import PictureWorkers, features_of_pixels
from tests.features import hostile
from tests.server.drawn_collection import ColorGrid, as_file, drawn


class Deadly(ColorGrid):
    """An encoder that does to its process what a color says."""

    def encode(self, image):
        red, green, blue = np.asarray(image)[0, 0]
        if red == 255:
            os.kill(os.getpid(), signal.SIGSEGV)
        if green == 255:
            end = time.process_time() + 60
            while time.process_time() < end:
                pass
        if blue == 255:
            return np.full(48, np.nan, np.float32)
        return super().encode(image)


class AtHome(ColorGrid):
    """An encoder that must not be copied to other processes."""

    forks = False


def plain(color):
    return as_file(np.full((20, 20, 3), color, np.uint8))


@pytest.fixture(scope="module")
def workers():
    workers = PictureWorkers(2, ColorGrid())
    yield workers
    workers.close()


@pytest.mark.parametrize("side", [16, 100, 224])
def test_a_thumbnail_is_as_large_as_it_may_be(workers, side):
    shown = workers.thumbnail(as_file(hostile.picture(300, 600)), side)
    assert (shown.width, shown.height) == (side, side // 2)
    assert shown.media_type == ("image/png" if side < 64 else "image/jpeg")


def test_a_picture_that_is_smaller_stays_as_it_is(workers):
    assert (workers.thumbnail(plain(9), 224).width, workers.thumbnail(plain(9), 224).media_type) == (20, "image/png")


def test_files_paths_and_pixels_are_read_alike(workers, tmp_path):
    pixels = drawn("red", 0)
    (tmp_path / "red.png").write_bytes(as_file(pixels))
    shown = [workers.thumbnail(one, 40).content for one in (as_file(pixels), str(tmp_path / "red.png"), pixels)]
    assert shown[0] == shown[1] == shown[2]


def test_sizes_are_those_that_are_shown(workers):
    assert workers.size(as_file(hostile.picture(30, 60))) == (60, 30)
    assert workers.size(hostile.with_exif(6)) == (40, 60)  # lies on its side
    assert workers.size(np.zeros((5, 7, 3), np.uint8)) == (7, 5)


def test_features_are_those_of_the_encoder(workers):
    pixels = drawn("green", 3)
    asked = workers.query(as_file(pixels))
    np.testing.assert_array_equal(asked.row, ColorGrid().encode(pixels))
    assert asked.pixels is None
    assert (asked.width, asked.height) == (64, 64)


def test_an_encoder_that_stays_at_home_gets_the_pixels():
    workers = PictureWorkers(1, AtHome())
    try:
        asked = workers.query(as_file(drawn("green", 3)))
        assert asked.row is None
        np.testing.assert_array_equal(features_of_pixels(AtHome(), asked.pixels), ColorGrid().encode(drawn("green", 3)))
    finally:
        workers.close()


def test_a_box_cuts_a_part(workers):
    both = np.concatenate([drawn("red", 1), drawn("blue", 2)], axis=1)
    part = workers.query(as_file(both), (0.5, 0.0, 1.0, 1.0))
    np.testing.assert_array_equal(part.row, ColorGrid().encode(drawn("blue", 2)))
    assert (part.width, part.height) == (64, 64)


def test_a_process_that_dies_costs_one_picture():
    workers = PictureWorkers(1, Deadly(), seconds=0.5)
    try:
        for color in ((255, 0, 0), (0, 255, 0)):
            with pytest.raises(ImageError, match="took too much time or memory, or crashed the decoder"):
                workers.query(plain(color))
            assert workers.query(plain((1, 2, 3))).row is not None
    finally:
        workers.close()


def test_features_that_are_no_numbers_are_refused():
    workers = PictureWorkers(1, Deadly())
    try:
        with pytest.raises(ImageError, match="NaN or infinite"):
            workers.query(plain((0, 0, 255)))
    finally:
        workers.close()


_LIMITED = """
from manyclass.features.images.pixels import ImageError
from manyclass.server.picture_workers import PictureWorkers
from tests.features import hostile
from tests.server.test_picture_workers import plain

workers = PictureWorkers(1, memory={memory})
try:
    print(workers.thumbnail(hostile.zeros_png(6000, 6000, 8, 2, 3), 100).width)
except ImageError:
    print("refused")
print(workers.thumbnail(plain(1), 100).width)
workers.close()
"""


@pytest.mark.parametrize(("memory", "printed"), [(60_000_000, "refused\n20\n"), (2_000_000_000, "100\n20\n")])
def test_memory_has_a_limit(memory, printed):
    # In a new process: what this one has freed and kept would be there for the picture beside the limit.
    command = [sys.executable, "-c", _LIMITED.format(memory=memory)]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == printed


def test_time_is_counted_for_each_picture_anew():
    workers = PictureWorkers(1, seconds=0.3)
    try:
        content = as_file(hostile.picture(700, 900))
        for _ in range(60):  # more than the limit together, of which the process would die
            assert workers.thumbnail(content, 600).width == 600
    finally:
        workers.close()


def test_processes_end_when_they_are_closed():
    import multiprocessing

    before = {one.pid for one in multiprocessing.active_children()}
    workers = PictureWorkers(2)
    started = [one for one in multiprocessing.active_children() if one.pid not in before]
    assert len(started) == 2
    workers.close()
    assert not any(one.is_alive() for one in started)
    workers.close()


def test_where_processes_may_not_fork_pictures_are_read_all_the_same(monkeypatch):
    monkeypatch.setattr("manyclass.server.picture_workers.may_fork", lambda: False)
    workers = PictureWorkers(2, ColorGrid())
    assert workers.thumbnail(plain(1), 100).width == 20
    with pytest.raises(ImageError):
        workers.thumbnail(b"nothing", 100)
    workers.close()
