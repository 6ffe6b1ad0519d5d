"""SHA-256 of bytes, texts, arrays, files and JSON."""

import hashlib

import numpy as np
import pytest

from manyclass._core.digest import file_digest, json_digest, sha256_digest


def test_pieces_are_digested_one_after_the_other():
    expected = hashlib.sha256(b"ab\xc3\xa9\xed\xa0\x80").hexdigest()
    assert sha256_digest([b"a", bytearray(b"b"), memoryview(b""), "é\ud800"]) == expected
    assert sha256_digest(iter([])) == hashlib.sha256().hexdigest()


@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_are_digested_in_c_order(order):
    A = np.arange(6, dtype=np.int32).reshape(2, 3)
    assert (
        sha256_digest([np.asarray(A, order=order), 7.0])
        == hashlib.sha256(A.tobytes() + np.float64(7).tobytes()).hexdigest()
    )


def test_a_file_has_the_digest_of_its_bytes(tmp_path):
    (tmp_path / "a").write_bytes(b"abc" * 100_000)
    assert file_digest(tmp_path / "a") == sha256_digest([b"abc" * 100_000])


def test_the_order_of_keys_does_not_matter_in_json():
    assert json_digest({"b": 1, "a": [1.5, None]}) == json_digest({"a": [1.5, None], "b": 1})
    assert json_digest({}) == hashlib.sha256(b"{}").hexdigest()
