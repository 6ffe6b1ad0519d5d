"""Pickles of plain data are read; whatever else they ask for is refused and never done."""

import datetime
import pickle
import struct
from collections import OrderedDict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyclass._core.safe_pickle import read_pickle

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary(),
    lambda inner: (
        st.lists(inner)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text() | st.integers(), inner)
        | st.lists(inner).map(tuple)
    ),
    max_leaves=12,
)
ARRAYS = [
    np.arange(6),
    np.arange(300, dtype=np.uint16),
    np.arange(6.0).reshape(2, 3),
    np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    np.array([1, 2], ">i4"),
    np.array([True, False]),
    np.array(["a", "bcd"]),
    np.array([b"a", b"bcd"]),
    np.zeros(0, np.int64),
    np.array(3.5),
]
PROTOCOLS = pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))


@pytest.fixture
def reading(tmp_path):
    """Write bytes to a file and read them as a pickle."""

    def read(data):
        path = tmp_path / "x.pkl"
        path.write_bytes(data)
        return read_pickle(path)

    return read


class Harmful:
    """What unpickling would call."""

    def __init__(self, function, *arguments):
        self.call = function, arguments

    def __reduce__(self):
        return self.call


@PROTOCOLS
@given(value=PLAIN)
def test_plain_data_comes_back(reading, protocol, value):
    found = reading(pickle.dumps(value, protocol))
    assert found == value
    assert type(found) is type(value)


@PROTOCOLS
@pytest.mark.parametrize("array", ARRAYS, ids=lambda array: f"{array.dtype}{array.shape}")
def test_arrays_come_back(reading, protocol, array):
    found = reading(pickle.dumps({"x": [array, array, array.copy()]}, protocol))["x"]
    for one in found:
        np.testing.assert_array_equal(one, array)
        assert one.dtype == array.dtype


@PROTOCOLS
@pytest.mark.parametrize("number", [np.int64(-3), np.float32(0.5), np.uint8(200), np.bool_(True)])
def test_numbers_of_numpy_come_back_as_numbers(reading, protocol, number):
    assert reading(pickle.dumps([number, number], protocol)) == [number, number]


@PROTOCOLS
def test_the_names_of_numpy_1_are_known(reading, protocol):
    data = pickle.dumps([np.arange(3)], protocol).replace(b"numpy._core", b"numpy.core")
    # Protocol 4 on has the lengths of strings before them.
    data = data.replace(b"\x8c\x16numpy.core.multiarray", b"\x8c\x15numpy.core.multiarray")
    data = data.replace(b"\x8c\x13numpy.core.numeric", b"\x8c\x12numpy.core.numeric")
    if protocol >= 4:
        data = data[:2] + b"\x95" + struct.pack("<Q", len(data) - 11) + data[11:]
    assert b"numpy.core" in data
    np.testing.assert_array_equal(reading(data)[0], [0, 1, 2])


def test_strings_of_python_2_are_read(reading):
    # {'imlist': ['a'], 'gnd': array of int64}, as cPickle wrote it by protocol 2.
    array = (
        b"cnumpy.core.multiarray\n_reconstruct\nq\x01cnumpy\nndarray\nq\x02K\x00\x85U\x01b\x87Rq\x03"
        b"(K\x01K\x02\x85cnumpy\ndtype\nq\x04U\x02i8K\x00K\x01\x87Rq\x05(K\x03U\x01<NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"
        b"\x89U\x10" + np.array([255, 1]).tobytes() + b"tb"
    )
    found = reading(b"\x80\x02}(U\x06imlist]U\x01aaU\x03gnd" + array + b"u.")
    assert found["imlist"] == ["a"]
    np.testing.assert_array_equal(found["gnd"], [255, 1])


@PROTOCOLS
@pytest.mark.parametrize(
    "value",
    [
        Harmful(exec, "raise SystemExit('it ran')"),
        Harmful(print, "it ran"),
        Harmful(np.zeros, 3),
        Harmful(np.ndarray, (3,)),
        np.ndarray,
        np.array([None, 1]),
        np.array([{}], object),
        np.zeros(2, "i4,i4"),
        np.array(["2020-01-01"], "M8[D]"),
        OrderedDict(a=1),
        datetime.date(2020, 1, 1),
        {1, 2},
        frozenset([1]),
        1j,
        {(1, 2): 3},
        {None: 3},
    ],
    ids=lambda value: f"{type(value).__name__} {value!r:.30}" if not isinstance(value, Harmful) else "call",
)
def test_everything_else_is_refused_and_not_run(reading, capsys, protocol, value):
    with pytest.raises(ValueError, match="the pickle"):
        plain(reading(pickle.dumps([value], protocol)))
    assert capsys.readouterr().out == ""


def plain(value):
    """A name that nothing was done with is left as an object of ours, which is not plain either."""
    for one in value:
        if type(one) not in (int, str, list, dict, tuple, np.ndarray):
            raise ValueError(f"the pickle left a {type(one).__name__}")


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b".",
        b"not a pickle",
        b"\x80\x04",
        b"K\x01K\x02.",
        b"(K\x01.",
        b"h\x05.",
        b"a.",
        b"K\x01K\x02a.",
        b"]t.",
        b"}K\x01s.",
        b"}(K\x01u.",
        b"]K\x01K\x02s.",
        b"K\x01)R.",
        b"K\x01}b.",
        b"cnumpy\ndtype\nU\x02i8\x85RK\x01b.",
        b"cnumpy\ndtype\nU\x02i8\x85R}b.",
        b"\x8e\xff\xff\xff\xff\xff\xff\xff\x7f.",
        b"cnumpy.core.multiarray\nscalar\ncnumpy\ndtype\nU\x02i8\x85RU\x01a\x86R.",
        b"cnumpy.core.multiarray\nscalar\nK\x01U\x01a\x86R.",
        b"c_codecs\nencode\nX\x01\x00\x00\x00aX\x05\x00\x00\x00utf-8\x86R.",
        b"cos\nsystem\n(S'true'\ntR.",
        b"(ios\nsystem\n.",
        b"P123\n.",
        b"\x82\x01.",
    ],
)
def test_damaged_and_hostile_files_are_refused_in_a_sentence(reading, data):
    with pytest.raises(ValueError, match="the pickle"):
        reading(data)


@given(cut=st.integers(0, 400), flip=st.integers(0, 400), to=st.integers(0, 255))
def test_random_damage_gives_plain_data_or_a_sentence(reading, cut, flip, to):
    data = bytearray(pickle.dumps({"imlist": ["a", "b"], "gnd": [{"ok": np.arange(9), "bbx": [1.0]}]}, 2))
    data[flip % len(data)] = to
    try:
        reading(bytes(data[: len(data) - cut % 3]))
    except ValueError as error:
        assert "the pickle" in str(error)  # noqa: PT017


def test_a_short_file_cannot_make_a_long_one(reading):
    text = b"X" + struct.pack("<I", 10_000) + b"a" * 10_000
    once = b"c_codecs\nencode\nh\x00h\x01\x86R"
    data = b"](" + text + b"q\x00X\x06\x00\x00\x00latin1q\x01" + once * 100 + b"e."
    with pytest.raises(ValueError, match="must not repeat the same data"):
        reading(data)


def test_deep_nests_do_not_overflow(reading):
    value = reading(b"]" * 100_000 + b"a" * 99_999 + b".")
    assert type(value) is list


def test_the_sentence_names_what_would_have_been_called(reading):
    with pytest.raises(ValueError, match=r"the pickle must hold plain data; it names os\.system"):
        reading(b"cos\nsystem\n(S'true'\ntR.")


def test_lists_that_hold_one_another_twice_are_told_of_in_no_time(tmp_path):
    """A shape that would take 2 ** 60 letters to write."""
    twice = b"".join(b"]q%c(h%ch%ce" % (i, i - 1, i - 1) for i in range(2, 62))
    made = b"cnumpy.core.multiarray\n_reconstruct\n)Rq\x7f0]q\x01" + twice
    (tmp_path / "x.pkl").write_bytes(
        b"\x80\x02" + made + b"h\x7f(K\x01h\x3dcnumpy\ndtype\n(X\x02\x00\x00\x00f4tRI00\nC\x04aaaatb."
    )
    with pytest.raises(ValueError, match="the pickle"):
        read_pickle(tmp_path / "x.pkl")


def test_very_many_instructions_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("manyclass._core.safe_pickle._MOST_STEPS", 1000)
    (tmp_path / "x.pkl").write_bytes(b"\x80\x02(" + b"]" * 2000 + b"l.")
    with pytest.raises(ValueError, match="more values than ground truth may have"):
        read_pickle(tmp_path / "x.pkl")
