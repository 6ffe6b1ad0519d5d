import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyclass._core.sealed import parse_json, seal, unseal
from manyclass.data.store import StorageError

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
