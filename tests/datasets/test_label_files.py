"""Labels in files: one per row, as numbers or words; by the names of rows, and with the names of classes."""

import errno
from pathlib import Path
from unicodedata import normalize

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyclass.data.readers.as_matrix import as_matrix
from manyclass.datasets.dataset import without_label
from manyclass.datasets.label_files import (
    LabelSource,
    as_labels,
    class_mismatch,
    collect_labels,
    join_labels,
    read_labels,
    reorder_by_name,
    shielded_cell,
)


def written(path, text, encoding="utf-8"):
    path.write_text(text, encoding=encoding)
    return path


@pytest.mark.parametrize(
    ("text", "y", "names"),
    [
        ("cat\ndog\ncat\n", ["cat", "dog", "cat"], None),
        ("label\ncat\ndog", ["cat", "dog"], None),
        ("7\n3\n-1\n", [7, 3, -1], None),
        ("y\r\n7\r\n3\r\n", [7, 3], None),
        ("a.jpg,cat\nb.jpg,dog\n", ["cat", "dog"], ["a.jpg", "b.jpg"]),
        ("path,label\na.jpg,1\nb.jpg,20\n", [1, 20], ["a.jpg", "b.jpg"]),
        ("Label,Path\n1,a.jpg\n", [1], ["a.jpg"]),
        ("width,filename,class\n3,a.jpg,x\n", ["x"], ["a.jpg"]),
        ('"a, b.jpg","dog, wild"\n', ["dog, wild"], ["a, b.jpg"]),
        ('path,label\n"a\nb.jpg","say ""hi"""\n', ['say "hi"'], ["a\nb.jpg"]),
        ("a.jpg, cat \n\n b.jpg,dog\n\n", ["cat", "dog"], ["a.jpg", "b.jpg"]),
        ("007\n8\n", ["007", "8"], None),
        ("1\n2.0\n", ["1", "2.0"], None),
        ("1\n--5\n", ["1", "--5"], None),
        ("1\n-0\n", ["1", "-0"], None),
        ("1\n-\n", ["1", "-"], None),
        ("1\n٣\n", ["1", "٣"], None),
        ("0\n-10\n999999999999999999\n", [0, -10, 999999999999999999], None),
        ("99999999999999999999\n1\n", ["99999999999999999999", "1"], None),
        ("éclair\n猫\n", ["éclair", "猫"], None),
        ("'=1+1\n''-x\n'tis\n", ["=1+1", "'-x", "'tis"], None),
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_a_csv_is_read(tmp_path, text, y, names, encoding):
    about = read_labels(written(tmp_path / "labels.csv", text, encoding))
    np.testing.assert_array_equal(about["y"], y)
    assert about["y"].dtype.kind == np.asarray(y).dtype.kind
    assert about.get("names", np.array(None)).tolist() == names


@given(st.text(st.characters(exclude_categories=["Cs", "Cc", "Z"]), min_size=1))
def test_a_cell_that_a_spreadsheet_would_run_is_read_as_it_was(tmp_path_factory, text):
    cell = shielded_cell(text)
    assert cell[0] not in "=+-@"
    quoted = '"' + cell.replace('"', '""') + '"'
    path = written(tmp_path_factory.mktemp("cells") / "labels.csv", f"name,label\nx,{quoted}\n")
    assert read_labels(path)["y"].astype(str).tolist() == [normalize("NFC", text)]


def test_a_csv_may_say_the_split(tmp_path):
    about = read_labels(written(tmp_path / "labels.csv", "label,split\n1,train\n2,test\n"))
    assert about["split"].tolist() == ["train", "test"]


def test_names_are_strings_even_if_they_are_numbers(tmp_path):
    about = read_labels(written(tmp_path / "labels.csv", "id,label\n10,1\n11,2\n"))
    assert about["names"].tolist() == ["10", "11"]


def test_tabs_separate_in_a_tsv(tmp_path):
    about = read_labels(written(tmp_path / "labels.tsv", "a,b.jpg\tcat\n"))
    assert (about["names"].tolist(), about["y"].tolist()) == (["a,b.jpg"], ["cat"])


def test_a_line_of_text_is_a_label_with_its_commas(tmp_path):
    assert read_labels(written(tmp_path / "labels.txt", "dog, wild\ncat\n"))["y"].tolist() == ["dog, wild", "cat"]


@pytest.mark.parametrize("y", [np.array([3, 1, 7], np.int16), np.array(["b", "a"]), np.array([b"b", b"a"])])
def test_an_npy_is_read(tmp_path, y):
    np.save(tmp_path / "labels.npy", y)
    expected = [label.decode() if isinstance(label, bytes) else label for label in np.asarray(y).tolist()]
    assert read_labels(tmp_path / "labels.npy")["y"].tolist() == expected


def test_a_parquet_is_read(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    label = pa.array(["x", "y", "x"]).dictionary_encode()
    pq.write_table(pa.table({"label": label, "url": ["u", "v", "w"]}), tmp_path / "labels.parquet")
    about = read_labels(tmp_path / "labels.parquet")
    assert (about["y"].tolist(), about["names"].tolist()) == (["x", "y", "x"], ["u", "v", "w"])


def test_a_gap_in_a_parquet_is_named(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.table({"label": [1, None]}), tmp_path / "labels.parquet")
    with pytest.raises(ValueError, match=r"labels\.parquet column 'label' must have no gaps; row 1 is null$"):
        read_labels(tmp_path / "labels.parquet")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "must have one label per line; it is empty"),
        ("a,b\nc\n", "must have 2 columns in every line; got 1 in line 2"),
        ('a,b\n\n"c\nd",e\nf\n', "must have 2 columns in every line; got 1 in line 5"),
        ('a,b\nc,"d\ne,f\n', "must close every quote that opens a cell; got .* from line 2"),
        ('a,b\nc,"d\n' + 30_000 * "e,f 1\n", "must close every quote that opens a cell; got .* from line 2"),
        ("a.jpg,3,cat\n", r"must name its 3 columns in its first line; got a\.jpg,3,cat"),
        ("path,size\na.jpg,3\n", "must have a column called labels, label, .*; got path, size"),
    ],
)
def test_a_csv_that_makes_no_sense_is_refused(tmp_path, text, message):
    path = written(tmp_path / "labels.csv", text)
    with pytest.raises(ValueError, match=rf"^{path} {message}$"):
        read_labels(path)


def test_text_in_another_encoding_is_refused(tmp_path):
    path = written(tmp_path / "labels.csv", "café\n", "latin-1")
    with pytest.raises(ValueError, match=rf"^{path} must be text in UTF-8; .* at byte 3$"):
        read_labels(path)


def test_another_extension_is_refused(tmp_path):
    path = written(tmp_path / "labels.doc", "")
    with pytest.raises(ValueError, match=rf"^{path} must end in one of \.npy, \.txt, .* to be read as labels$"):
        read_labels(path)


def test_a_missing_file_is_said(tmp_path):
    with pytest.raises(FileNotFoundError, match=f"^no file of labels at {tmp_path}/labels.csv$"):
        read_labels(tmp_path / "labels.csv")


def test_labels_of_yes_and_no_are_integers(tmp_path):
    np.save(tmp_path / "labels.npy", [True, False])
    y = read_labels(tmp_path / "labels.npy")["y"]
    assert (y.tolist(), y.dtype) == ([1, 0], np.int64)


def test_several_files_make_one_vector():
    parts = [np.array(["a"]), np.array(["long", "b"])]
    assert join_labels(parts, ["0.npy", "1.npy"]).tolist() == ["a", "long", "b"]


def test_a_file_of_another_kind_is_named():
    with pytest.raises(ValueError, match=r"^1\.npy must hold integers, as 0\.npy does; got strings$"):
        join_labels([np.array([1]), np.array(["1"])], ["0.npy", "1.npy"])


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (np.array([b"\xff"]), "y must be text in UTF-8; .* at byte 0"),
        ([[1], [2]], r"y must have one dimension; got shape \(2, 1\)"),
        ([1.5, 2], "y must be integers or strings; got dtype float64"),
        (np.array([1, "a"], object), "y must be integers or strings; got dtype object"),
    ],
)
def test_what_is_no_vector_of_labels_is_refused(labels, message):
    with pytest.raises(ValueError, match=f"^{message}$"):
        as_labels(labels, "y")


def table(names):
    return {"names": np.array(names, np.str_), "y": np.array([name.upper() for name in names], np.str_)}


words = st.lists(st.text("abc", min_size=1, max_size=3), min_size=1, max_size=8, unique=True)


@given(words, st.data())
def test_every_name_gets_its_own_row(names, data):
    rows = data.draw(st.permutations(names))
    asked = data.draw(st.lists(st.sampled_from(names)))
    ordered = reorder_by_name(asked, table(rows), "t.csv")
    assert ordered["names"].tolist() == asked
    assert ordered["y"].tolist() == [name.upper() for name in asked]


def test_names_that_repeat_are_fine_in_the_same_order():
    rows = table(["a", "a", "b"]) | {"y": np.array([1, 2, 3])}
    assert reorder_by_name(["a", "a", "b"], rows, "t.csv")["y"].tolist() == [1, 2, 3]


def test_names_that_repeat_in_another_order_are_refused():
    with pytest.raises(ValueError, match=r"^t\.csv must have every name once, so .* by it; got 'a' twice$"):
        reorder_by_name(["b", "a", "a"], table(["a", "a", "b"]), "t.csv")


@pytest.mark.parametrize("rows", [["a"], ["a", "c"], ["c", "a", "d"]])
def test_the_first_name_that_is_missing_is_told(rows):
    with pytest.raises(
        ValueError, match=r"^t\.csv must have a label for 'b', which is row 1; got none; leave its names"
    ):
        reorder_by_name(["a", "b"], table(rows), "t.csv")


@pytest.mark.parametrize("y", [[0, 1, 1], ["b", "a"], np.zeros(0, int)], ids=["integers", "strings", "none"])
def test_labels_among_the_classes_fit(y):
    assert class_mismatch(np.asarray(y), ["a", "b"]) is None


@pytest.mark.parametrize(
    ("y", "classes", "problem"),
    [
        ([0, 2], ["a", "b"], "labels must be integers in [0, 2); got 2 at row 1"),
        ([-1, 0], ["a", "b"], "labels must be integers in [0, 2); got -1 at row 0"),
        (["a", "c"], ["a", "b"], "labels must be among the 2 classes; got 'c' at row 1"),
        ([0, 1], ["a", "b", "a"], "classes must be distinct; got 'a' twice"),
    ],
)
def test_what_does_not_fit_is_told(y, classes, problem):
    assert class_mismatch(np.array(y), classes) == problem


@pytest.mark.parametrize(
    ("content", "y"),
    [
        ("path,label\na,cat\nb,\nc,dog\n", ["cat", "", "dog"]),
        ("a,1\nb,0\nc,  \nd,2\n", [1, 0, -1, 2]),
        ("a,1\nb,-5\nc,\n", ["1", "-5", ""]),
    ],
)
def test_a_line_without_a_label_is_no_class_of_its_own(tmp_path, content, y):
    (tmp_path / "labels.csv").write_text(content)
    found = read_labels(tmp_path / "labels.csv")["y"]
    assert found.tolist() == y
    assert without_label(found).tolist() == [label in ("", -1) for label in y]


COMPOSED, DECOMPOSED = "caf\u00e9", "cafe\u0301"


@pytest.mark.parametrize("name", ["labels.csv", "labels.txt", "labels.npy"])
def test_two_spellings_of_one_letter_are_one_class(tmp_path, name):
    if name == "labels.npy":
        np.save(tmp_path / name, np.array([COMPOSED, DECOMPOSED, "tea"]))
    else:
        (tmp_path / name).write_text(f"{COMPOSED}\n{DECOMPOSED}\ntea\n")
    assert read_labels(tmp_path / name)["y"].tolist() == [COMPOSED, COMPOSED, "tea"]


def test_names_stay_as_files_have_them_and_are_found_by_either_spelling(tmp_path):
    (tmp_path / "labels.csv").write_text(f"{COMPOSED}.jpg,a\ntea.jpg,b\n")
    table = read_labels(tmp_path / "labels.csv")
    assert table["names"].tolist() == [f"{COMPOSED}.jpg", "tea.jpg"]
    found = reorder_by_name(["tea.jpg", f"{DECOMPOSED}.jpg"], table, "labels.csv")
    assert found["y"].tolist() == ["b", "a"]


def test_a_line_of_a_million_commas_is_refused(tmp_path):
    (tmp_path / "labels.csv").write_text("a,b\n" + "," * 1_000_001)
    with pytest.raises(ValueError, match=r"labels\.csv must have lines of at most 1000000 letters; line 2 has 1000001"):
        read_labels(tmp_path / "labels.csv")


@pytest.mark.parametrize("order", ["<", ">"])
def test_letters_that_unicode_has_not_are_refused(order):
    words = np.frombuffer(np.array([0x61, 0x110000], f"{order}u4").tobytes(), f"{order}U1")
    with pytest.raises(ValueError, match=r"^x must be text; it has letters that Unicode has not$"):
        as_labels(words, "x")


@pytest.mark.parametrize("gives", ["y", "split"])
def test_trouble_of_the_machine_leaves_nothing_out(gives):
    def fail():
        raise ValueError("x cannot be read") from OSError(errno.EMFILE, "Too many open files")

    with pytest.raises(ValueError, match=r"^x cannot be read$"):
        collect_labels([LabelSource((gives,), "x", fail, certain=False)], as_matrix([[1.0]]), Path("x"), {"y", "split"})
