"""What compression saves, that damage is found, and that products are measured."""

import manyclass as mc
from manyclass.cli.demo.demo_compression import find_flipped_bit, time_products


def test_codes_stand_for_the_same_rows(once):
    whole, codes = (mc.open_store(once[0] / name) for name in ("glyphs.store", "small.store"))
    assert whole.shape == codes.shape == (320, 640)
    assert codes.X.nbytes == whole.X.nbytes / 32
    assert whole.y.tolist() == codes.y.tolist()
    assert list(whole.names) == list(codes.names)


def test_the_flipped_bit_is_found(once):
    assert "codes-0.npy block 0" in once[1]["compression"]["found"]


def test_the_store_itself_is_not_damaged_by_the_flip(once):
    small = mc.open_store(once[0] / "small.store")
    before = {file.name: file.read_bytes() for file in small.path.iterdir()}
    assert "codes-0.npy block 0" in find_flipped_bit(small)
    assert {file.name: file.read_bytes() for file in small.path.iterdir()} == before


def test_products_are_timed_on_codes_and_on_decoded_rows(once):
    timed = time_products(mc.open_store(once[0] / "small.store"), 7, seed=0)
    assert (timed["columns"], timed["threads"]) == (7, mc.get_threads())
    assert timed["codes"] > 0 < timed["numpy"]
