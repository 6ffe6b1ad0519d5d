"""Ground truth in the forms in which it is given out, written small."""

import pickle

import numpy as np
import pytest
from scipy.io import savemat

from manyclass.evaluation import read_truth


def cells(values):
    out = np.empty((len(values), 1), object)
    out[:, 0] = values
    return out


def structs(entries):
    """MATLAB's array of structs, each field a row of numbers."""
    out = np.empty((len(entries), 1), [(key, object) for key in entries[0]])
    for i, entry in enumerate(entries):
        for key, value in entry.items():
            out[i, 0][key] = np.array(value, np.float64).reshape(1, -1)
    return out


def write_mat(path, images, entries, **queries):
    savemat(path, {"imlist": cells(images), "gnd": structs(entries), **queries})
    return path


def write_pickle(path, record, protocol=2):
    path.write_bytes(pickle.dumps(record, protocol))
    return path


def write_oxford(folder, queries):
    for name, (asked, *lists) in queries.items():
        (folder / f"{name}_query.txt").write_text(asked)
        for kind, images in zip(("good", "ok", "junk"), lists, strict=True):
            (folder / f"{name}_{kind}.txt").write_text("".join(f"{image}\n" for image in images))
    return folder


def told(truth):
    """All of it, as names."""
    called = truth.names
    return [
        (q.name, *([called[i] for i in rows] for rows in (q.easy, q.hard, q.junk)), q.row, q.box) for q in truth.queries
    ]


CLASSIC = [{"ok": [1, 3], "junk": [2], "bbx": [1, 2, 30.5, 40]}, {"ok": [4], "junk": [], "bbx": [0, 0, 5, 5]}]
CLASSIC_TOLD = [("a", ["a", "c"], [], ["b"], 0, (1, 2, 30.5, 40)), ("d", ["d"], [], [], 3, (0, 0, 5, 5))]
REVISITED = [{"easy": [1], "hard": [3, 2], "junk": [4], "bbx": [1, 2, 3, 4]}, {"easy": [], "hard": [1], "junk": []}]
OXFORD = {
    "hall_2": ("c 0 0 5 5", ["c"], [], []),
    "hall_1": ("oxc1_a 1 2 30.5 40\n", ["a"], ["d"], ["b", "gone"]),
}


def test_holidays_list(tmp_path):
    path = tmp_path / "holidays_images.dat"
    path.write_text("100000.jpg\n100001.jpg\n\n100100.jpg\n100002.jpg\n100101.jpg")
    assert told(read_truth(path)) == [
        ("100000.jpg", ["100001.jpg", "100002.jpg"], [], [], 0, None),
        ("100100.jpg", ["100101.jpg"], [], [], 2, None),
    ]


def test_classic_mat(tmp_path):
    path = write_mat(tmp_path / "gnd.mat", list("abcd"), CLASSIC, qidx=np.array([[1], [4]], np.uint16))
    assert told(read_truth(path)) == CLASSIC_TOLD


def test_revisited_mat(tmp_path):
    entries = [{**entry, "bbx": [1, 2, 3, 4]} for entry in REVISITED]
    path = write_mat(tmp_path / "gnd.mat", list("abcd"), entries, qimlist=cells(["x", "y"]))
    box = (1, 2, 3, 4)
    assert told(read_truth(path)) == [
        ("x", ["a"], ["b", "c"], ["d"], None, box),
        ("y", [], ["a"], [], None, box),
    ]


def test_a_mat_of_one_query_and_one_image(tmp_path):
    path = write_mat(tmp_path / "gnd.mat", ["a"], [{"ok": [1], "junk": []}], qidx=np.array([[1]]))
    assert told(read_truth(path)) == [("a", ["a"], [], [], 0, None)]


@pytest.mark.parametrize("protocol", range(6))
@pytest.mark.parametrize("kept_as", [list, tuple, np.array, lambda rows: np.array(rows, np.int32)])
def test_revisited_pickle(tmp_path, protocol, kept_as):
    gnd = [
        {key: kept_as(rows) if key == "bbx" else kept_as([row - 1 for row in rows]) for key, rows in entry.items()}
        for entry in REVISITED
    ]
    path = write_pickle(tmp_path / "g.pkl", {"imlist": list("abcd"), "qimlist": ["x", "y"], "gnd": gnd}, protocol)
    assert told(read_truth(path)) == [
        ("x", ["a"], ["b", "c"], ["d"], None, (1, 2, 3, 4)),
        ("y", [], ["a"], [], None, None),
    ]


def test_the_queries_of_a_classic_pickle_are_found_in_the_database(tmp_path):
    gnd = [{"ok": [0, 2], "junk": [1], "bbx": (1, 2, 30.5, 40)}, {"ok": [3], "junk": [], "bbx": [0, 0, 5, 5]}]
    path = write_pickle(tmp_path / "gnd.pkl", {"imlist": list("abcd"), "qimlist": ["a", "d"], "gnd": gnd})
    assert told(read_truth(path)) == CLASSIC_TOLD


def test_oxfords_text_files_are_read_for_the_given_names(tmp_path):
    truth = read_truth(write_oxford(tmp_path, OXFORD), names=["z.jpg", "jpg/d.jpg", "c", "b.jpg", "a.jpg"])
    assert truth.names[4] == "a.jpg"
    assert told(truth) == [
        ("a", ["jpg/d.jpg", "a.jpg"], [], ["b.jpg"], 4, (1, 2, 30.5, 40)),
        ("c", ["c"], [], [], 2, (0, 0, 5, 5)),
    ]


def test_names_give_another_order(tmp_path):
    path = write_mat(tmp_path / "gnd.mat", list("abcd"), CLASSIC, qidx=np.array([[1], [4]]))
    truth = read_truth(path, names=["d", "distractor", "c", "b", "a"])
    assert truth.names[1] == "distractor"
    assert [(sorted(ok), row) for _, ok, _, _, row, _ in told(truth)] == [(["a", "c"], 4), (["d"], 0)]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("100000.jpg\nfoto.jpg\n", "must list images by number, such as 100000.jpg; got 'foto.jpg' in line 2"),
        ("100001.jpg\n", "must have a query, whose number ends in 00, for every group; group 1000 has none"),
        ("\n", "must have a query, .*; it is empty"),
        ("100000.jpg\n100000.png", "names must be distinct without folders and file extensions; got '100000' twice"),
        ("\udcff\udcfe", "must list images by number"),
    ],
)
def test_other_lists_are_not_those_of_holidays(tmp_path, text, sentence):
    path = tmp_path / "list.txt"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(ValueError, match=sentence):
        read_truth(path)


@pytest.mark.parametrize(
    ("record", "sentence"),
    [
        ([1, 2], "the file must be a mapping with 'imlist'; got list"),
        ({"imlist": ["a"]}, "the file must have 'gnd'; got imlist"),
        ({"imlist": ["a"], "gnd": []}, "the file must have 'qimlist'; got imlist, gnd"),
        ({"imlist": ["a", 3], "gnd": [], "qimlist": []}, "imlist must list names of images; got int"),
        ({"imlist": 3, "gnd": [], "qimlist": []}, "imlist and qimlist must be lists; got int"),
        ({"imlist": ["a"], "gnd": [], "qimlist": ["a"]}, r"an entry for every query \(1\); got 0"),
        ({"imlist": ["a"], "gnd": [3], "qimlist": ["a"]}, "gnd of query 'a' must be a mapping with 'ok'; got int"),
        ({"imlist": ["a"], "gnd": [{"easy": []}], "qimlist": ["a"]}, "gnd of query 'a' must have 'hard'"),
        ({"imlist": ["a"], "gnd": [{"ok": [5]}], "qimlist": ["a"]}, r"in \[0, 1\); query 'a' has 5"),
        ({"imlist": ["a"], "gnd": [{"ok": [-1]}], "qimlist": ["a"]}, r"whole numbers from 0 on; got \[-1\]"),
        ({"imlist": ["a"], "gnd": [{"ok": [0.5]}], "qimlist": ["a"]}, "must be a list of whole numbers; got list"),
        ({"imlist": ["a"], "gnd": [{"ok": np.array([0.5])}], "qimlist": ["a"]}, "whole numbers from 0 on"),
        ({"imlist": ["a"], "gnd": [{"ok": np.array(["x"])}], "qimlist": ["a"]}, "whole numbers from 0 on"),
        ({"imlist": ["a"], "gnd": [{"ok": [[0]]}], "qimlist": ["a"]}, "must be a list of whole numbers; got list"),
        ({"imlist": ["a"], "gnd": [{"ok": [0], "junk": [0]}], "qimlist": ["a"]}, "must share no row"),
        ({"imlist": ["a"], "gnd": [{"ok": [0], "bbx": [1, 2]}], "qimlist": ["a"]}, "four numbers as bbx; got list"),
        ({"imlist": ["a"], "gnd": [{"ok": [0]}], "qidx": [4]}, r"qidx must name rows of the database, in \[0, 1\)"),
        ({"imlist": ["a", "x/a.jpg"], "gnd": [], "qimlist": []}, "names must be distinct"),
        ({"imlist": {"a"}, "gnd": [], "qimlist": []}, "the pickle must hold plain data"),
    ],
)
def test_records_that_are_no_truth_are_refused_with_the_files_name(tmp_path, record, sentence):
    path = write_pickle(tmp_path / "gnd.pkl", record, protocol=4)
    with pytest.raises(ValueError, match=rf"gnd\.pkl must hold ground truth: .*{sentence}"):
        read_truth(path)


@pytest.mark.parametrize("data", [b"", b"MATLAB 5.0 MAT-file", b"x" * 200])
def test_damaged_mat_files_are_refused_in_a_sentence(tmp_path, data):
    path = tmp_path / "gnd.mat"
    path.write_bytes(data)
    with pytest.raises(ValueError, match=r"gnd\.mat must hold ground truth: the \.mat file cannot be read"):
        read_truth(path)


@pytest.mark.parametrize(
    ("queries", "names", "sentence"),
    [
        ({}, ["a"], "must hold ground truth such as all_souls_1_query.txt; none is there"),
        (OXFORD, None, "names must list the database's images, .*; got None"),
        (OXFORD, ["a", "b", "c"], "names must hold every image that counts; 'd' of .*hall_1_query.txt is missing"),
        (OXFORD, ["a", "b", "d"], "names must hold every image that counts; 'c' of .*hall_2_query.txt is missing"),
        ({"x_1": ("a 1 2 3", ["a"], [], [])}, ["a"], "must hold a name and four numbers"),
        ({"x_1": ("", ["a"], [], [])}, ["a"], "must hold a name and four numbers"),
        ({"x_1": ("a 1 2 3 4", ["a"])}, ["a"], "must have x_1_ok.txt beside it; it is not there"),
    ],
)
def test_folders_that_are_no_truth_are_refused(tmp_path, queries, names, sentence):
    for name, (asked, *lists) in queries.items():
        (tmp_path / f"{name}_query.txt").write_text(asked)
        for kind, images in zip(("good", "ok", "junk"), lists, strict=False):
            (tmp_path / f"{name}_{kind}.txt").write_text("\n".join(images))
    with pytest.raises(ValueError, match=sentence):
        read_truth(tmp_path, names)


def test_a_path_that_is_not_there_is_told(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"path must be a file or folder of ground truth; .*nothing\.mat"):
        read_truth(tmp_path / "nothing.mat")


def test_a_short_pickle_cannot_ask_for_much_memory(tmp_path):
    name = " " + "a" * 100_000
    record = {"imlist": [name] * 50_000, "qimlist": [], "gnd": []}
    (tmp_path / "bomb.pkl").write_bytes(pickle.dumps(record))
    assert (tmp_path / "bomb.pkl").stat().st_size < 300_000
    with pytest.raises(ValueError, match="imlist must list names of at most 4096 characters; got one of 100001"):
        read_truth(tmp_path / "bomb.pkl")


@pytest.mark.parametrize("number", [np.inf, 1e300])
def test_numbers_beyond_all_rows_are_refused(tmp_path, number):
    entry = {"easy": np.array([number]), "hard": [], "junk": []}
    (tmp_path / "x.pkl").write_bytes(pickle.dumps({"imlist": ["a"], "qimlist": ["q"], "gnd": [entry]}))
    with pytest.raises(ValueError, match="must hold whole numbers from 0 on"):
        read_truth(tmp_path / "x.pkl")
