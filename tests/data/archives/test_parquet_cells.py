import json

import numpy as np
import pytest
from data.archives.archive_makers import picture, write_hub_parquet

from manyclass import ImageError, limits, read_image
from manyclass._core.errors import FileRefusedError
from manyclass.data.archives.parquet_cells import cells_of, holds_pictures, picture_columns

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def test_cells_have_the_bytes_of_their_rows_in_any_order(tmp_path):
    pictures = [picture(i) for i in range(40)]
    cells = cells_of(write_hub_parquet(tmp_path / "a.parquet", pictures, row_group_size=17))
    for row in [*range(40), 3, 39, 0, 20, 19, 18]:
        assert cells[row].read() == pictures[row]


def test_the_schema_says_how_classes_are_called(tmp_path):
    path = write_hub_parquet(tmp_path / "a.parquet", [picture(0)], [1], ["cat", "dog"])
    columns = picture_columns(path)
    assert (columns.pictures, columns.labels, columns.names) == ("image.bytes", "label", ("cat", "dog"))


def test_the_finest_classes_are_taken_where_none_is_called_label(tmp_path):
    classes = {"coarse": ["a"], "fine": ["b", "c"]}
    features = {name: {"_type": "ClassLabel", "names": words} for name, words in classes.items()}
    schema = pa.schema([("img", pa.binary()), ("coarse", pa.int64()), ("fine", pa.int64())])
    schema = schema.with_metadata({"huggingface": json.dumps({"info": {"features": features}})})
    pq.write_table(pa.table([[b"x"], [0], [1]], schema=schema), tmp_path / "a.parquet")
    columns = picture_columns(tmp_path / "a.parquet")
    assert (columns.pictures, columns.labels, columns.names) == ("img", "fine", ("b", "c"))


@pytest.mark.parametrize("words", [b"no json", b"[]", b'{"info": 3}', b'{"info": {"features": [1]}}', b"[" * 5000])
def test_metadata_that_make_no_sense_say_nothing(tmp_path, words):
    schema = pa.schema([("image", pa.struct([("bytes", pa.binary())])), ("label", pa.int64())], {"huggingface": words})
    pq.write_table(pa.table([[{"bytes": b"x"}], [0]], schema=schema), tmp_path / "a.parquet")
    assert picture_columns(tmp_path / "a.parquet").names is None


def test_embeddings_are_no_pictures(tmp_path):
    pq.write_table(pa.table({"embedding": np.ones((3, 4)).tolist(), "label": [1, 2, 3]}), tmp_path / "a.parquet")
    (tmp_path / "b.parquet").write_bytes(b"no table")
    assert not holds_pictures(tmp_path / "a.parquet")
    assert not holds_pictures(tmp_path / "b.parquet")
    with pytest.raises(ValueError, match="must have a column of pictures"):
        cells_of(tmp_path / "a.parquet")


def test_a_missing_picture_and_a_large_one_are_bad(tmp_path):
    cells = cells_of(write_hub_parquet(tmp_path / "a.parquet", [None, picture(1)]))
    with pytest.raises(FileRefusedError, match="is missing"):
        cells[0].read()
    with limits(image=20), pytest.raises(FileRefusedError, match="over the limit of 20 bytes"):
        cells[1].read()


def test_a_damaged_part_costs_its_own_pictures_alone(tmp_path):
    pictures = [picture(i) for i in range(60)]
    path = write_hub_parquet(
        tmp_path / "a.parquet", pictures, row_group_size=20, compression="gzip", use_dictionary=False
    )
    about = pq.ParquetFile(path).metadata.row_group(1).column(0)
    data = bytearray(path.read_bytes())
    data[about.data_page_offset + 40 : about.data_page_offset + 3000] = bytes(2960)
    path.write_bytes(bytes(data))
    bad = []
    for row, cell in enumerate(cells_of(path)):
        try:
            read_image(cell)
        except ImageError:
            bad.append(row)
    assert set(bad) <= set(range(20, 40))
    assert bad


def test_a_file_that_unpacks_to_far_more_is_refused(tmp_path):
    path = write_hub_parquet(tmp_path / "a.parquet", [bytes(1 << 22)] * 10, compression="zstd", use_dictionary=False)
    with limits(unpacked=1000), pytest.raises(ImageError, match="must not take much more memory"):
        read_image(cells_of(path)[0])
