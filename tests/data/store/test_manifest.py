"""Manifests that lie. Each is sealed with a right checksum, so that only what it says can give it away."""

import json
import os

import numpy as np
import pytest

import manyclass as mc
from manyclass._core.errors import StorageError, StoreCorruptedError
from manyclass._core.sealed import seal
from manyclass.data.store.manifest import Manifest, read_manifest


def put(*keys, value):
    """A change of content: the entry under these keys becomes value."""

    def change(content):
        for key in keys[:-1]:
            content = content[key]
        content[keys[-1]] = value

    return pytest.param(change, id=f"{'.'.join(map(str, keys))}={value!r}"[:60])


def within(*keys):
    """put, with the keys given before the value."""
    return lambda value: put(*keys, value=value)


ROWS = ("segments", 0, "codes")
HUGE = (2**31, 2**63, 2**64, 2**200)

LIES = [
    put("format", value="another store"),
    put("version", value="1"),
    put("version", value=0),
    put("version", value=True),
    put("serial", value=-1),
    put("serial", value=None),
    put("surprise", value=1),
    *map(within("columns"), (-1, 4, 6, 2.0, "5", None, *HUGE)),
    *map(within("segments"), ([], {}, None, [1], [{}], [[]])),
    *map(within("quantizer"), (1, {}, {"kind": "scalar"}, {"kind": 1, "settings": {}, "arrays": {}})),
    put("quantizer", "kind", value="pickle"),
    put("quantizer", "settings", value={}),
    put("quantizer", "settings", value=[]),
    put("quantizer", "arrays", value={}),
    *map(within("classes"), (["a"], ["a", "a", "b"], [1, 2, 3], "abc", {})),
    *map(within("splits"), (None, ["train"], [1, 2], ["test", "test"])),
    *map(within("provenance"), (None, [], "x")),
    *map(within(*ROWS), (None, {}, [])),
    *map(
        within(*ROWS, "name"),
        ("../codes-0.npy", "/etc/passwd", "codes-0.npy/", "a/codes-0.npy", "..", "", "codes-0.npy\0", "codes-1.npy", 7),
    ),
    *map(within(*ROWS, "dtype"), ("<f4", "|O", "|u2", ">f4", "object", "|V1", None, ["|u1"])),
    *map(
        within(*ROWS, "shape"),
        (
            [60],
            [60, 4],
            [60, 5, 1],
            [-60, -5],
            [0, 5],
            [60.0, 5],
            [5, 60],
            "60",
            None,
            [1] * 100,
            *([n, 5] for n in HUGE),
        ),
    ),
    *map(within(*ROWS, "size"), (-1, 0, 427, 1e3, None, *HUGE)),
    *map(within(*ROWS, "header_bytes"), (-128, 0, 127, 192, None, *HUGE)),
    *map(within(*ROWS, "header_crc32"), (-1, 0, None, 2**32)),
    *map(within(*ROWS, "block_bytes"), (-1, 0, 1, 61, 59, None, *HUGE)),
    *map(within(*ROWS, "crc32"), ([], [0], [-1] * 5, None, {}, ["0"] * 5, [0] * 6)),
    put("segments", 0, "y", "dtype", value="<f8"),
    put("segments", 0, "y", "shape", value=[30, 2]),
    put("segments", 0, "z", value=None),
]


@pytest.fixture
def sealed(full_store):
    """A function that puts a change into the manifest of a store and seals it."""
    path = full_store.path / "manifest.json"
    content = json.loads(path.read_bytes())["content"]

    def change(how):
        how(content)
        path.write_bytes(seal(content))
        return full_store.path

    return change


@pytest.mark.parametrize("lie", LIES)
def test_a_manifest_that_lies_is_refused_in_one_sentence(sealed, lie):
    path = sealed(lie)
    with pytest.raises(StorageError) as refusal:
        mc.open_store(path).X.check()
    message = str(refusal.value)
    assert message.startswith(str(path))
    assert "\n" not in message


def test_a_later_format_is_refused_with_the_way_out(sealed):
    path = sealed(lambda content: content.update(version=3, news="unknown here"))
    with pytest.raises(StorageError, match="format version 3, and this manyclass reads up to 2; upgrade"):
        mc.open_store(path)


def test_blocks_that_end_within_a_row_are_refused(sealed):
    path = sealed(lambda content: content["segments"][0]["codes"].update(block_bytes=61))
    with pytest.raises(StorageError, match=r"codes-0\.npy must have blocks of whole rows; got blocks of 61 bytes"):
        mc.open_store(path)


@pytest.mark.parametrize("role", ["y", "split", "names", "name_offsets"])
def test_a_segment_without_a_column_that_the_other_has_is_refused(sealed, role):
    path = sealed(lambda content: content["segments"][1].pop(role))
    with pytest.raises(StorageError, match=r"the same columns|come together"):
        mc.open_store(path)


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("y", 7, "y must be below 3"),
        ("y", -1, "y must be below 3"),
        ("name_offsets", 10**6, "names overlap or leave gaps"),
    ],
)
def test_columns_that_point_outside_are_refused(tmp_path, rows, columns, column, value, message):
    store = mc.write_store(tmp_path / "a.store", rows, **columns)
    wrong = np.load(store.path / f"{column}-0.npy")
    wrong[5] = value
    from manyclass.data.store.manifest import write_array

    record = write_array(store.path, f"{column}-0.npy", wrong)
    content = json.loads((store.path / "manifest.json").read_bytes())["content"]
    content["segments"][0][column] = record.json()
    (store.path / "manifest.json").write_bytes(seal(content))
    with pytest.raises(StorageError, match=message):
        mc.open_store(store.path)


@pytest.mark.parametrize(
    "data",
    [b"", b"{}", b"null", b"[]", b"\xff\xfe", b'{"content":1,"sha256":""}', b"[" * 100_000, b'{"content":{"a":1e999}}'],
    ids=range(8),
)
def test_what_is_no_manifest_is_refused(tmp_path, data):
    (tmp_path / "manifest.json").write_bytes(data)
    with pytest.raises(StoreCorruptedError, match=r"manifest\.json does not match its own checksum"):
        mc.open_store(tmp_path)


def test_a_manifest_too_large_to_be_one_is_not_read(tmp_path):
    (tmp_path / "manifest.json").touch()
    os.truncate(tmp_path / "manifest.json", 1 << 40)
    with pytest.raises(
        StorageError,
        match=r"manifest\.json has 1\.1 TB, over the limit of 256\.0 MB; if you trust it, set MANYCLASS_LIMITS=",
    ):
        mc.open_store(tmp_path)


def test_a_manifest_comes_back_as_it_was(full_store):
    manifest = read_manifest(full_store.path)
    assert Manifest.from_content(json.loads(json.dumps(manifest.content()))) == manifest
    assert manifest.to_bytes() == (full_store.path / "manifest.json").read_bytes()
