"""JSON and arrays that notice every wrong bit."""

import json
import struct
import tracemalloc

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
import safetensors.numpy
from hypothesis import given
from hypothesis import strategies as st

from manyclass._core import sealed
from manyclass._core.digest import sha256_digest
from manyclass._core.errors import StorageError
from manyclass._core.sealed import DTYPES, SealedFormat, parse_json, seal, unseal

KIND = SealedFormat("test file", 2, "write it again")
CONTENT = {"a": [1, 0.1, None], "é": "\ud800"}


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "a.safetensors"
    KIND.write(path, CONTENT, {"W": np.arange(6, dtype=np.float32).reshape(2, 3), "b": np.zeros(0), "c": np.array(7)})
    return path


def resealed(header, data=b""):
    """The bytes of a file with any header, whose checksum is right."""
    text = json.dumps(header, separators=(",", ":")).encode()
    file = bytearray(struct.pack("<Q", len(text)) + text + data)
    file[sealed._SEAL] = b"0" * 64
    file[sealed._SEAL] = sha256_digest([file]).encode()
    return bytes(file)


def header(**metadata):
    known = {"sha256": "0" * 64, "format": KIND.name, "version": "1", "content": "{}"}
    return {"__metadata__": {**known, **metadata}}


@given(st.data(), st.sampled_from(sorted(DTYPES)))
def test_arrays_of_every_dtype_and_shape_come_back(tmp_path, data, name):
    array = data.draw(hnp.arrays(DTYPES[name], hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)))
    KIND.write(tmp_path / "a", None, {"x": array, "transposed": array.T})
    _, arrays = KIND.read(tmp_path / "a")
    for found, expected in ((arrays["x"], array), (arrays["transposed"], array.T)):
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
        assert found.tobytes() == expected.tobytes()


def test_the_content_comes_back(file):
    assert KIND.read(file)[0] == CONTENT


def test_arrays_that_were_read_can_be_written_to(file):
    assert all(array.flags.writeable for array in KIND.read(file)[1].values())


def test_arrays_begin_where_a_line_of_the_cache_does(file):
    assert all(array.ctypes.data % 64 == 0 for array in KIND.read(file)[1].values() if array.size)


def test_a_file_takes_no_more_memory_than_its_arrays(tmp_path):
    KIND.write(tmp_path / "a", None, {"W": np.ones((1 << 10, 1 << 12), np.float32), "b": np.ones(7)})  # 16 MiB
    tracemalloc.start()
    _, arrays = KIND.read(tmp_path / "a")
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert arrays["W"].all()
    assert most < 20 << 20


@pytest.mark.parametrize("rows", [slice(0, 2), slice(3, 7), slice(7, 7), slice(5, 99)])
def test_some_rows_of_every_array_are_read_alone(tmp_path, rows):
    given = {"W": np.arange(21.0).reshape(7, 3), "b": np.arange(7, dtype=np.int8), "none": np.zeros((7, 0))}
    KIND.write(tmp_path / "a", None, {**given, "scalar": np.array(4)})
    _, arrays = KIND.read(tmp_path / "a", rows)
    for name, array in given.items():
        np.testing.assert_array_equal(arrays[name], array[rows])
    assert arrays["scalar"] == 4


def test_other_readers_of_safetensors_open_the_file(file):
    found = safetensors.numpy.load_file(file)
    assert {name: array.shape for name, array in found.items()} == {"W": (2, 3), "b": (0,), "c": ()}


def test_the_same_content_gives_the_same_bytes(file, tmp_path):
    content, arrays = KIND.read(file)
    KIND.write(tmp_path / "b", content, {name: arrays[name] for name in ("W", "b", "c")})
    assert (tmp_path / "b").read_bytes() == file.read_bytes()


def test_a_flipped_bit_in_any_byte_is_found(file):
    whole = file.read_bytes()
    for at in range(len(whole)):
        broken = bytearray(whole)
        broken[at] ^= 1 << at % 8
        file.write_bytes(broken)
        with pytest.raises(ValueError, match=r"a\.safetensors is (damaged|not a test file).*write it again$"):
            KIND.read(file)


def test_every_shorter_and_longer_file_is_found(file):
    whole = file.read_bytes()
    for broken in (*(whole[:end] for end in range(len(whole))), whole + b"\0", whole + whole):
        file.write_bytes(broken)
        with pytest.raises(ValueError, match=r"a\.safetensors is (damaged|not a test file).*write it again$"):
            KIND.read(file)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"hello", "is not a test file"),
        (safetensors.numpy.save({"x": np.zeros(3)}), "is not a test file"),
        (resealed(header(format="poem")), "must hold a test file; it holds a poem"),
        (resealed(header(version="3")), "is a test file of version 3.* up to 2; install a newer one"),
        (resealed(header(version="new")), "cannot be read as a test file"),
        (resealed(header(content="{")), "cannot be read as a test file"),
        (resealed(header(content="[" * 100_000)), "cannot be read as a test file"),
        (resealed({**header(), "x": {"dtype": "F32", "shape": [9], "data_offsets": [0, 4]}}), "cannot be read"),
        (resealed({**header(), "x": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}), "cannot be read"),
        (resealed({**header(), "x": {"dtype": "BF16", "shape": [2], "data_offsets": [0, 4]}}, b"abcd"), "cannot be"),
    ],
)
def test_a_file_of_another_kind_or_make_is_one_sentence_with_its_path(tmp_path, data, message):
    (tmp_path / "strange").write_bytes(data)
    with pytest.raises(ValueError, match=message) as caught:
        KIND.read(tmp_path / "strange")
    assert str(caught.value).startswith(str(tmp_path / "strange"))
    assert "\n" not in str(caught.value)


ENTRY = {"dtype": "U8", "shape": [2, 2], "data_offsets": [0, 4]}

ENTRIES = {
    "no number": {**ENTRY, "shape": [2.0, 2]},
    "a truth value": {**ENTRY, "shape": [True, 4]},
    "negative": {**ENTRY, "shape": [-2, -2]},
    "huge": {**ENTRY, "shape": [2**62, 2**62]},
    "huge and empty": {**ENTRY, "shape": [0, 10**30], "data_offsets": [0, 0]},
    "no list": {**ENTRY, "shape": "22"},
    "too long": {**ENTRY, "shape": [8], "data_offsets": [0, 8]},
    "a hole": {**ENTRY, "data_offsets": [4, 8]},
    "before": {**ENTRY, "data_offsets": [-4, 0]},
    "three ends": {**ENTRY, "data_offsets": [0, 2, 4]},
    "no ends": {"dtype": "U8", "shape": [4]},
    "no entry": 7,
    "less than there is": {**ENTRY, "shape": [3], "data_offsets": [0, 3]},
    "no kind": {**ENTRY, "dtype": []},
    "many sides": {**ENTRY, "shape": [1] * 99 + [4]},
}


@pytest.mark.parametrize("shape", [[9] * 1_000_000, [10**4000] * 900, [2**63]], ids=["many", "long", "one"])
def test_numbers_of_a_header_that_would_take_minutes_are_not_multiplied(tmp_path, monkeypatch, shape):
    (tmp_path / "lie").write_bytes(resealed({**header(), "x": {**ENTRY, "shape": shape}}, b"abcd"))
    monkeypatch.setattr("manyclass._core.sealed.math.prod", lambda _: pytest.fail("a product of them"))
    with pytest.raises(ValueError, match="does not say where 'x' is"):
        KIND.read(tmp_path / "lie")


@pytest.mark.parametrize("entry", ENTRIES.values(), ids=ENTRIES)
def test_a_header_that_lies_about_its_arrays_is_refused(tmp_path, entry):
    (tmp_path / "lie").write_bytes(resealed({**header(), "x": entry}, b"abcd"))
    with pytest.raises(ValueError, match=r"lie cannot be read as a test file: .*write it again$"):
        KIND.read(tmp_path / "lie")


def test_two_arrays_cannot_be_in_one_place(tmp_path):
    (tmp_path / "lie").write_bytes(resealed({**header(), "x": ENTRY, "y": ENTRY}, b"abcd"))
    with pytest.raises(ValueError, match="cannot be read as a test file"):
        KIND.read(tmp_path / "lie")


def test_arrays_of_a_later_version_are_not_looked_at(tmp_path):
    later = {**header(version="9"), "x": {"dtype": "F7", "shape": [2], "data_offsets": [0, 4]}}
    (tmp_path / "later").write_bytes(resealed(later, b"abcd"))
    with pytest.raises(ValueError, match="install a newer one"):
        KIND.read(tmp_path / "later")


def test_a_write_that_fails_leaves_the_old_file(file, monkeypatch):
    before = file.read_bytes()
    monkeypatch.setattr("os.fsync", lambda descriptor: (_ for _ in ()).throw(OSError("no")))
    with pytest.raises(OSError, match="no"):
        KIND.write(file, {}, {})
    assert file.read_bytes() == before


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(), values, max_size=4))
def test_what_was_sealed_comes_back(content):
    assert unseal(seal(content)) == content


def test_each_single_flipped_bit_is_found():
    data = seal({"Name": "É\ud800x", "numbers": [1, 2.5, None, True], "nested": {"a": {"b": []}}})
    for bit in range(8 * len(data)):
        flipped = bytearray(data)
        flipped[bit // 8] ^= 1 << bit % 8
        with pytest.raises(StorageError, match="does not match its own checksum"):
            unseal(bytes(flipped))


@pytest.mark.parametrize("spelling", [b'{"content":{},"sha256":"%s" }\n', b' {"content":{},"sha256":"%s"}\n'])
def test_another_spelling_of_the_same_content_is_refused(spelling):
    digest = seal({}).split(b'"')[-2]
    with pytest.raises(StorageError):
        unseal(spelling % digest)


def test_as_json_gives_what_json_gives_back():
    assert parse_json({"a": (1, 2)}, "identity") == {"a": [1, 2]}


@pytest.mark.parametrize("length", [0, 1 << 20, 1 << 40, (1 << 64) - 1])
def test_a_header_longer_than_its_file_is_refused_before_it_is_read(tmp_path, length):
    broken = bytearray(resealed(header()))
    broken[:8] = struct.pack("<Q", length)
    broken[sealed._SEAL] = b"0" * 64
    broken[sealed._SEAL] = sha256_digest([broken]).encode()
    (tmp_path / "strange").write_bytes(broken)
    with pytest.raises(ValueError, match=r"strange (cannot be read as|is not) a test file"):
        KIND.read(tmp_path / "strange")


def test_a_header_has_at_most_as_many_bytes_as_other_readers_take(tmp_path, monkeypatch):
    (tmp_path / "long").write_bytes(resealed(header(content=json.dumps("x" * 1000))))
    assert KIND.read(tmp_path / "long")[0] == "x" * 1000
    monkeypatch.setattr(sealed, "_MOST_HEADER", 1000)
    with pytest.raises(ValueError, match="long cannot be read as a test file"):
        KIND.read(tmp_path / "long")


ARRAYS = {"W": np.arange(12, dtype=np.float32).reshape(4, 3), "b": np.arange(4), "none": np.zeros((0, 3), np.uint8)}


def test_a_file_that_is_filled_has_the_bytes_of_one_that_is_written(tmp_path):
    KIND.write(tmp_path / "written", CONTENT, ARRAYS)
    shape = np.broadcast_to(np.zeros((), np.float32), ARRAYS["W"].shape)
    with KIND.filling(tmp_path / "filled", CONTENT, {**ARRAYS, "W": shape}, later=["W"]) as put:
        put("W", 2, ARRAYS["W"][2:])
        put("W", 0, ARRAYS["W"][:2])
    assert (tmp_path / "filled").read_bytes() == (tmp_path / "written").read_bytes()


@pytest.mark.parametrize(
    ("name", "first", "rows"),
    [("W", 3, np.zeros((2, 3), np.float32)), ("W", 0, np.zeros((2, 2), np.float32)), ("W", 0, np.zeros((2, 3)))],
)
def test_rows_that_do_not_fit_into_a_file_leave_none(tmp_path, name, first, rows):
    with (
        pytest.raises(ValueError, match="rows of W must fit"),
        KIND.filling(tmp_path / "a", None, ARRAYS, ARRAYS) as put,
    ):
        put(name, first, rows)
    assert list(tmp_path.iterdir()) == []


def test_arrays_that_are_named_stay_in_the_file(tmp_path):
    KIND.write(tmp_path / "a", ["none", "W"], ARRAYS)
    _, arrays = KIND.read(tmp_path / "a", mapped=lambda content: content)
    assert isinstance(arrays["W"].base, np.memmap)
    assert not arrays["W"].flags.writeable
    assert not isinstance(arrays["b"].base, np.memmap)
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(arrays[name], array)
    _, some = KIND.read(tmp_path / "a", slice(1, 3), mapped=lambda content: content)
    np.testing.assert_array_equal(some["W"], ARRAYS["W"][1:3])
