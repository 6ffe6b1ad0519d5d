"""Files and images of Pillow are read or refused in one sentence; many images are told from one."""

import errno
import io
import os
import threading
import warnings

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from PIL import Image, ImageCms
from PIL.JpegImagePlugin import JpegImageFile

import manyclass as mc
from manyclass._core.parallel import suppress_warnings
from manyclass.features.images.decoding import as_image_list, read_image
from manyclass.features.images.pixels import ImageError
from tests.features import hostile
from tests.features.child import Means
from tests.features.hostile import picture, saved


@pytest.mark.parametrize("kind", ["PNG", "BMP", "TIFF", "WEBP"])
def test_a_picture_without_loss_is_read_as_it_was_written(read, kind):
    options = {"lossless": True} if kind == "WEBP" else {}
    assert_array_equal(read(saved(picture(), kind, **options)), picture())


@pytest.mark.parametrize("path", [str, lambda path: path, lambda path: bytes(path)])
def test_a_path_may_be_a_string_a_path_or_bytes(tmp_path, path):
    (tmp_path / "x.png").write_bytes(saved(picture(), "PNG"))
    assert_array_equal(read_image(path(tmp_path / "x.png")), picture())


@pytest.mark.parametrize("mode", ["RGB", "P", "CMYK", "YCbCr", "1", "L", "LA", "RGBA"])
def test_an_image_of_pillow_is_read_as_its_colors_are(mode):
    image = Image.fromarray(picture()).convert(mode)
    assert_array_equal(read_image(image), np.asarray(image.convert("RGB")))


def test_an_image_of_pillow_stands_upright_as_its_exif_says(tmp_path):
    exif = Image.Exif()
    exif[274] = 6
    Image.fromarray(picture()).save(tmp_path / "x.png", exif=exif)
    with Image.open(tmp_path / "x.png") as image:
        assert_array_equal(read_image(image), read_image(tmp_path / "x.png"))


def test_an_image_of_pillow_that_cannot_be_decoded_is_an_image_error(tmp_path):
    (tmp_path / "x.png").write_bytes(saved(picture(), "PNG")[:60])
    with Image.open(tmp_path / "x.png") as image, pytest.raises(ImageError, match="cannot be decoded"):
        read_image(image)


def test_the_first_frame_of_several_is_taken(read):
    data = saved(picture(), "GIF", **hostile.frames())
    assert_array_equal(read(data), np.asarray(Image.open(io.BytesIO(saved(picture(), "GIF"))).convert("RGB")))


def test_a_file_of_a_profile_is_read_as_its_numbers(read):
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    assert_array_equal(read(saved(picture(), "PNG", icc_profile=profile)), picture())


def test_a_jpeg_is_decoded_at_a_part_of_its_size(tmp_path, monkeypatch):
    (tmp_path / "x.jpg").write_bytes(saved(picture(800, 1200), "JPEG"))
    sizes, prepare = [], JpegImageFile.load_prepare
    monkeypatch.setattr(JpegImageFile, "load_prepare", lambda self: sizes.append(self.size) or prepare(self))
    read_image(tmp_path / "x.jpg", max_pixels=50_000)
    assert sizes == [(300, 200)]


def test_more_pixels_than_the_limit_are_refused_before_they_are_decoded(read):
    with pytest.raises(ImageError, match=r"^has 60 x 40 pixels, more than 2,399$"):
        read(saved(picture(), "PNG"), max_source_pixels=2399)
    assert read(saved(picture(), "PNG"), max_source_pixels=2400).shape == (40, 60, 3)


def test_a_webp_of_which_the_decoder_holds_more_copies_may_have_half_as_many(read):
    with pytest.raises(ImageError, match="more than 2,399"):
        read(saved(picture(), "WEBP"), max_source_pixels=4799)
    assert read(saved(picture(), "WEBP"), max_source_pixels=4800).shape == (40, 60, 3)


@pytest.mark.parametrize("settings", [{"max_pixels": 0}, {"max_source_pixels": 0}, {"max_source_pixels": 10**9}])
def test_settings_that_make_no_sense_are_refused(read, settings):
    with pytest.raises(ValueError, match="must be a whole number"):
        read(saved(picture(), "PNG"), **settings)


def test_names_that_are_no_names_are_bad_files_too():
    with pytest.raises(ImageError, match="cannot be read: embedded null byte"):
        read_image("a\0b.jpg")
    assert mc.ImageError is ImageError


class FailingFile(io.BytesIO):
    """A file on a disk that gives no more than its name."""

    def __init__(self, path, code):
        super().__init__()
        self.number, self.code = os.open(path, os.O_RDONLY), code

    def fileno(self):
        return self.number

    def read(self, *args):
        raise OSError(self.code, os.strerror(self.code))

    def close(self):
        os.close(self.number)
        super().close()


@pytest.mark.parametrize("code", [errno.EMFILE, errno.ENFILE, errno.EIO, errno.ENOMEM, errno.ESTALE])
@pytest.mark.parametrize("when", ["opened", "read"])
def test_trouble_of_the_machine_is_not_blamed_on_the_picture(tmp_path, monkeypatch, code, when):
    (tmp_path / "x.png").write_bytes(saved(picture(), "PNG"))

    def open_file(path, kind):
        if when == "read":
            return FailingFile(path, code)
        raise OSError(code, os.strerror(code), path)

    monkeypatch.setattr("manyclass.features.images.decoding.open_file", open_file)
    with pytest.raises(mc.StorageError, match=rf"^{tmp_path}/x.png cannot be read: {os.strerror(code).lower()}"):
        read_image(tmp_path / "x.png")


@pytest.mark.parametrize("code", [errno.ENOENT, errno.EACCES, errno.ELOOP, errno.ENAMETOOLONG])
def test_a_file_that_cannot_be_opened_by_anybody_is_a_bad_picture(monkeypatch, code):
    def open_file(path, kind):
        raise OSError(code, os.strerror(code), path)

    monkeypatch.setattr("manyclass.features.images.decoding.open_file", open_file)
    with pytest.raises(ImageError, match=rf"^cannot be read: {os.strerror(code).lower()}$"):
        read_image("x.png")


def test_warnings_are_quiet_until_the_last_thread_has_left_and_no_longer():
    inside, leave = threading.Event(), threading.Event()

    def stay():
        with suppress_warnings():
            inside.set()
            leave.wait(10)

    thread = threading.Thread(target=stay)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        before = list(warnings.filters)
        with suppress_warnings():
            thread.start()
            inside.wait(10)
        warnings.warn("nobody hears it", UserWarning, stacklevel=1)
        leave.set()
        thread.join()
        assert warnings.filters == before
        with pytest.raises(UserWarning):
            warnings.warn("heard", UserWarning, stacklevel=1)


class Column:
    """As a column of pandas after a split: [i] is that of the label i, and the labels are in another order."""

    iloc = None

    def __init__(self, values):
        self.values = list(values)

    def __len__(self):
        return len(self.values)

    def __getitem__(self, label):
        return self.values[::-1][label]

    def __iter__(self):
        return iter(self.values)

    def to_numpy(self):
        array = np.empty(len(self.values), object)
        array[:] = self.values
        return array


IMAGES = [picture(40 + i, 60, seed=i) for i in range(4)]


@pytest.mark.parametrize("shape", [(60, 40, 3), (60, 40, 4), (60, 40), (7,), (2, 3, 4, 5, 3)])
def test_one_picture_is_not_taken_for_many(shape):
    with pytest.raises(ValueError, match="put it in a list"):
        as_image_list(np.zeros(shape, np.uint8))


@pytest.mark.parametrize("shape", [(5, 40, 30), (5, 40, 30, 3), (5, 40, 30, 1)])
def test_an_array_of_pictures_is_taken_as_it_is(shape):
    images = np.zeros(shape, np.uint8)
    assert as_image_list(images) is images


@pytest.mark.parametrize("images", ["photos", b"photos", {"a": 1}, {"a"}, iter("ab"), None, np.full((3, 1), "a.jpg")])
@pytest.mark.parametrize("use", [mc.BagOfWords(2).fit, lambda images: mc.write_features("a.store", images, Means())])
def test_what_is_no_sequence_is_refused(use, images):
    with pytest.raises(ValueError, match="images must be a sequence of paths or arrays; got"):
        use(images)


def test_columns_of_a_table_are_read_by_position(tmp_path):
    y, names, split = [3, 1, 2, 0], list("abcd"), ["train", "test", "train", "val"]
    run = mc.write_features(
        tmp_path / "a.store", Column(IMAGES), Means(), y=Column(y), names=Column(names), split=Column(split)
    )
    assert_array_equal(run.store.X.toarray(), [Means().encode(image) for image in IMAGES])
    assert_array_equal(run.store.y, y)
    assert list(run.store.names) == names
    assert list(run.store.split) == split


def test_an_encoder_gives_the_rows_of_a_column_in_its_order():
    encoder = mc.BagOfWords(4, n_components=8, random_state=0).fit(IMAGES)
    assert_array_equal(encoder.transform(Column(IMAGES)), encoder.transform(IMAGES))
