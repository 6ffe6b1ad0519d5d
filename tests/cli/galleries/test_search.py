"""manyclass search, as a user meets it."""

import csv
import json
import os
import re

import numpy as np
import pytest
from PIL import Image

import manyclass as mc
from tests.cli.gallery_data import SMALL, labeled, world, write_album, write_store
from tests.features.hostile import picture, saved


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """A gallery of features, `g`, made by the library, and files of queries."""
    home = tmp_path_factory.mktemp("search")
    store = write_store(home / "x.store")
    g = mc.Gallery(mc.SquareLossExemplar(regularization=0.1, random_state=0).fit(world()))
    metadata = {"class": [store.classes[label] for label in store.y], "year": [2000 + i % 3 for i in range(96)]}
    g.add(labeled()[0], ids=list(store.names), metadata=metadata)
    g.save(home / "g")
    np.save(home / "q.npy", labeled()[0][:3])
    np.save(home / "one.npy", labeled()[0][5])
    np.save(home / "narrow.npy", np.ones((2, 5)))
    (home / "bad.jpg").write_bytes(b"bad")
    (home / "good.png").write_bytes(saved(picture(), "PNG"))
    return home


@pytest.fixture
def there(home, monkeypatch):
    monkeypatch.chdir(home)
    return home


def test_rows_of_features_find_what_the_library_finds(run, there):
    outcome = run("search", "g", "q.npy", "-k", 4, "--json")
    assert (outcome.code, outcome.err) == (0, "")
    g = mc.Gallery.open("g")
    hits = g.search(labeled()[0][:3], k=4)
    queries = json.loads(outcome.out)["queries"]
    assert [query["query"] for query in queries] == ["q.npy row 0", "q.npy row 1", "q.npy row 2"]
    for i, query in enumerate(queries):
        assert [hit["id"] for hit in query["hits"]] == hits.ids[i].tolist()
        assert [hit["score"] for hit in query["hits"]] == hits.scores[i].tolist()
        assert [hit["percentile"] for hit in query["hits"]] == hits.percentiles[i].tolist()
        assert query["matched"] == hits.matched[i]
        assert query["hits"][0]["metadata"] == g.metadata(hits.ids[i, 0])[0]


def test_a_file_of_one_vector_is_one_query(run, there):
    (query,) = json.loads(run("search", "g", "one.npy", "--json").out)["queries"]
    assert (query["query"], query["hits"][0]["id"], len(query["hits"])) == ("one.npy", "class 5/005.png", 10)


def test_rows_of_a_store_ask_under_their_names(run, there):
    queries = json.loads(run("search", "g", "x.store", "-k", 1, "--json").out)["queries"]
    assert len(queries) == 96
    assert all(query["query"] == query["hits"][0]["id"] for query in queries)


def test_an_image_of_the_gallery_finds_others(run, there):
    (query,) = json.loads(run("search", "g", "--id", "class 1/001.png", "-k", 5, "--json").out)["queries"]
    assert [hit["id"] for hit in query["hits"]] == mc.Gallery.open("g").search_ids("class 1/001.png", 5).ids[0].tolist()


def test_marks_are_one_query_as_the_library_asks_it(run, there):
    like, unlike = ["class 1/001.png", "class 1/009.png"], ["class 2/002.png"]
    options = [word for name in like for word in ("--like", name)] + ["--unlike", *unlike]
    (query,) = json.loads(run("search", "g", *options, "-k", 7, "--json").out)["queries"]
    hits = mc.runs.search_marked(mc.Gallery.open("g"), like, unlike, k=7)
    assert [hit["id"] for hit in query["hits"]] == hits.ids[0].tolist()
    assert [hit["score"] for hit in query["hits"]] == hits.scores[0].tolist()
    assert [hit["percentile"] for hit in query["hits"]] == hits.percentiles[0].tolist()
    assert query["query"] == "like class 1/001.png, class 1/009.png, unlike class 2/002.png"
    assert not {*like, *unlike} & {hit["id"] for hit in query["hits"]}


def test_one_mark_asks_as_an_image_of_the_gallery_does(run, there):
    marked, asked = (
        json.loads(run("search", "g", option, "class 1/001.png", "--json").out)["queries"][0]
        for option in ("--like", "--id")
    )
    assert marked["hits"] == asked["hits"]
    assert marked["words"] == asked["words"]


def test_marks_are_searched_for_under_conditions(run, there):
    options = ("--like", "class 1/001.png", "--like", "class 2/002.png", "--where", "year=2001")
    (query,) = json.loads(run("search", "g", *options, "-k", 30, "--json").out)["queries"]
    assert {hit["metadata"]["year"] for hit in query["hits"]} == {2001}


def test_a_mark_that_is_no_image_is_one_sentence(run, there):
    outcome = run("search", "g", "--like", "class 1/001.png", "--unlike", "class 1/01.png")
    assert (outcome.code, outcome.err.count("\n")) == (1, 1)
    assert "it has no 'class 1/01.png'" in outcome.err


def test_files_and_ids_answer_in_their_order(run, there):
    outcome = run("search", "g", "one.npy", "q.npy", "--id", "class 7/007.png", "-k", 1, "--json")
    names = [query["query"] for query in json.loads(outcome.out)["queries"]]
    assert names == ["one.npy", "q.npy row 0", "q.npy row 1", "q.npy row 2", "class 7/007.png"]


@pytest.mark.parametrize(
    ("where", "key", "values"),
    [
        (("class=class 2",), "class", {"class 2"}),
        (("class=class 2", "class=class 3"), "class", {"class 2", "class 3"}),
        (("year=2001",), "year", {2001}),
    ],
)
def test_conditions_leave_some_images(run, there, where, key, values):
    options = [word for condition in where for word in ("--where", condition)]
    (query,) = json.loads(run("search", "g", "one.npy", "-k", 30, *options, "--json").out)["queries"]
    assert {hit["metadata"][key] for hit in query["hits"]} == values


def test_conditions_of_two_names_must_both_hold(run, there):
    options = ("--where", "class=class 2", "--where", "year=2002")
    (query,) = json.loads(run("search", "g", "one.npy", *options, "--json").out)["queries"]
    assert {tuple(hit["metadata"].values()) for hit in query["hits"]} == {("class 2", 2002)}


@pytest.mark.parametrize(
    ("matched", "words"),
    [
        (True, "matched: the best is more alike than chance explains"),
        (False, "no match: chance explains the best score"),
    ],
)
def test_the_table_says_whether_the_best_is_a_match(run, there, tmp_path, matched, words):
    X = labeled()[0]
    X = X + 0.05 * np.random.default_rng(0).normal(size=X.shape).astype(X.dtype)
    (row, *_) = np.flatnonzero(mc.Gallery.open("g").search(X, k=1).matched == matched)
    np.save(tmp_path / "v.npy", X[row])
    outcome = run("search", "g", tmp_path / "v.npy", "-k", 2)
    assert outcome.code == 0
    title, header, *rows = outcome.out.splitlines()
    assert re.search(re.escape(words) + r" \(p = 0\.\d+\)$", title)
    assert header.split() == ["image", "score", "percentile", "class", "year"]
    assert len(rows) == 2


def test_a_copy_is_called_one(run, there, tmp_path):
    np.save(tmp_path / "v.npy", labeled()[0][:1])
    title = run("search", "g", tmp_path / "v.npy").out.splitlines()[0]
    assert title.endswith("matched: the best has the same features")


def test_without_unrelated_images_nothing_is_judged(run, tmp_path):
    g = mc.Gallery()
    g.add(np.eye(3))
    g.save(tmp_path / "g")
    (query,) = json.loads(run("search", tmp_path / "g", "--id", 1, "--json").out)["queries"]
    assert (query["matched"], query["hits"][0]["percentile"]) == (None, None)
    assert "not judged" in run("search", tmp_path / "g", "--id", 1).out


def test_what_is_found_goes_to_a_csv(run, there, tmp_path):
    assert run("search", "g", "q.npy", "-k", 2, "-o", tmp_path / "hits.csv").code == 0
    with open(tmp_path / "hits.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["query"] for row in rows] == [f"q.npy row {i}" for i in (0, 0, 1, 1, 2, 2)]
    assert [row["rank"] for row in rows] == ["1", "2"] * 3
    assert rows[0]["id"] == "class 0/000.png"
    assert (rows[0]["class"], rows[0]["year"]) == ("class 0", "2000")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("g", "nothing.jpg"), "nothing.jpg: no such file or directory"),
        (("g", "nothing.npy"), "nothing.npy"),
        (("g", "narrow.npy"), "narrow.npy must have 12 columns, as g has; got 5"),
        (("g", "good.png"), "g cannot be searched by pictures such as good.png"),
        (("g", "--id", "class 1/001.pgn"), "did you mean class 1/001.png?"),
        (("g", "one.npy", "--where", "clas=cat"), "--where must name what is known of images (class, year); got clas"),
        (("g", "one.npy", "--where", "class=clas 2"), "none has class=clas 2; did you mean class 2?"),
        (("g", "one.npy", "--sheet", "x.png"), "--sheet needs the pictures of g"),
        (("g", "one.npy", "--sheet", "x.doc"), "--sheet must end in .png"),
        (("x.store", "one.npy"), "it holds a manyclass store"),
        (("missing", "one.npy"), "is not a gallery"),
        (("one.npy", "one.npy"), "is not a gallery"),
    ],
)
def test_bad_input_is_one_sentence_and_exit_one(run, there, arguments, words):
    outcome = run("search", *arguments)
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err.startswith("manyclass: ")
    assert outcome.err.count("\n") == 1
    assert words in outcome.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("g",), "a query is missing"),
        (("g", "one.npy", "-k", 0), "-k"),
        (("g", "--unlike", "class 1/001.png"), "--unlike needs --like"),
        (("g", "one.npy", "--where", "cat"), "must be NAME=VALUE"),
        ((), "Usage: manyclass search"),
    ],
)
def test_wrong_usage_is_two(run, there, arguments, words):
    outcome = run("search", *arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert words in outcome.err


def test_a_gallery_of_numbers_says_what_its_numbers_are_like(run, tmp_path):
    g = mc.Gallery()
    g.add(np.eye(3), ids=[10, 11, 12])
    g.save(tmp_path / "g")
    assert "its images have numbers such as 10" in run("search", tmp_path / "g", "--id", "cat").err
    assert run("search", tmp_path / "g", "--id", "11").code == 0


@pytest.fixture(scope="module")
def album(tmp_path_factory):
    return write_album(tmp_path_factory.mktemp("album") / "photos")


@pytest.fixture
def pictured(run, album, tmp_path, monkeypatch):
    """A gallery of pictures, made by two commands."""
    monkeypatch.chdir(tmp_path)
    assert run("features", album, "-o", "p.store", *SMALL).code == 0
    assert run("encode", "p.store", "-o", "g", "--regularization", 0.01).code == 0
    return album


def test_pictures_find_pictures_and_a_sheet_shows_them(run, pictured):
    files = [pictured / "class 1" / "05.png", pictured / "class 3" / "07.png"]
    outcome = run("search", "g", *files, "-k", 3, "--sheet", "found.png", "--json")
    assert outcome.code == 0, outcome.err
    queries = json.loads(outcome.out)["queries"]
    assert [query["query"] for query in queries] == [str(file) for file in files]
    assert [query["hits"][0]["id"] for query in queries] == ["class 1/05.png", "class 3/07.png"]
    sheet = np.asarray(Image.open("found.png")).astype(int)
    high = 128 + 28  # a picture, and two lines of text under it
    assert sheet.shape == (2 * high + 6, 4 * 128 + 3 * 6, 3)
    query, best = sheet[10:118, 10:118], sheet[10:118, 134 + 10 : 134 + 118]
    other = sheet[high + 16 : high + 124, 134 + 10 : 134 + 118]
    assert np.abs(query - best).mean() < np.abs(query - other).mean() / 2
    for column in range(4):
        for line in (0, 1):  # a name, and a score
            written = sheet[128 + 14 * line : 142 + 14 * line, 134 * column : 134 * column + 128]
            assert written.min() < 100 < 250 < written.max()


def test_pictures_may_be_marks(run, pictured):
    files = [pictured / "class 1" / "05.png", pictured / "class 3" / "07.png"]
    options = ("--like", files[0], "--like", "class 1/09.png", "--unlike", files[1])
    outcome = run("search", "g", *options, "-k", 3, "--sheet", "found.png", "--json")
    assert outcome.code == 0, outcome.err
    (query,) = json.loads(outcome.out)["queries"]
    assert query["hits"][0]["id"] == "class 1/05.png"
    hits = mc.runs.search_marked(mc.Gallery.open("g"), [files[0], "class 1/09.png"], [files[1]], k=3)
    assert [hit["id"] for hit in query["hits"]] == hits.ids[0].tolist()
    with Image.open("found.png") as sheet:
        assert sheet.size == (4 * 128 + 3 * 6, 156)


def test_a_bad_picture_is_one_sentence(run, pictured, home):
    outcome = run("search", "g", home / "bad.jpg")
    assert (outcome.code, outcome.err.count("\n")) == (1, 1)
    assert "bad.jpg, is not an image" in outcome.err


def test_pictures_that_moved_are_found_by_their_new_folder(run, pictured, tmp_path):
    g = mc.Gallery.open("g")
    g.provenance["pictures"] = ["nowhere"]
    g.save()
    missing = run("search", "g", "--id", "class 1/05.png", "--sheet", "a.png")
    assert missing.code == 1
    assert "--pictures" in missing.err
    assert run("search", "g", "--id", "class 1/05.png", "--sheet", "a.png", "--pictures", pictured).code == 0
    with Image.open("a.png") as sheet:
        assert sheet.size[1] == 128 + 28


def test_help_teaches(run):
    outcome = run("search", "--help")
    assert outcome.code == 0
    for word in (
        "--id",
        "--like",
        "--unlike",
        "--where",
        "--sheet",
        "--json",
        "class=cat",
        "percentile",
        "Example: manyclass search",
    ):
        assert word in outcome.out


@pytest.mark.parametrize("option", ["-o", "--sheet"])
def test_a_pipe_is_not_replaced_by_results(run, tmp_path, option):
    os.mkfifo(tmp_path / "pipe.png")
    outcome = run("search", tmp_path / "missing", "--id", "a", option, tmp_path / "pipe.png")
    assert outcome.code == 1
    assert "pipe.png is a pipe, in whose place no file is put" in outcome.err


def found(outcome):
    assert outcome.code == 0, outcome.err
    return [[hit["id"] for hit in query["hits"]] for query in json.loads(outcome.out)["queries"]]


def test_queries_are_expanded_and_ranked_again_as_the_library_does_it(run, there):
    from manyclass.retrieval import KReciprocal, QueryExpansion

    better = {"expansion": QueryExpansion(3, 3.0), "reranking": KReciprocal(n_candidates=30)}
    outcome = run("search", "g", "q.npy", "-k", 20, "--expand", 3, "--rerank", 30, "--json")
    assert found(outcome) == mc.Gallery.open("g").search(labeled()[0][:3], k=20, **better).ids.tolist()
    assert found(outcome) != found(run("search", "g", "q.npy", "-k", 20, "--json"))


def test_an_image_of_the_gallery_is_expanded_too(run, there):
    plain, better = (
        found(run("search", "g", "--id", "class 5/005.png", "--json", *more)) for more in ([], ["--expand", 3])
    )
    assert plain != better
    assert "class 5/005.png" not in better[0]


def test_marks_are_neither_expanded_nor_ranked_again(run, there):
    outcome = run("search", "g", "--like", "class 5/005.png", "--rerank", 9)
    assert outcome.code == 2
    assert "--like does not go with --expand and --rerank" in " ".join(outcome.err.replace("│", " ").split())


def test_a_gallery_with_an_index_is_searched_exactly_where_that_is_wanted(run, tmp_path, monkeypatch):
    pytest.importorskip("faiss")
    V = np.random.default_rng(0).standard_normal((1200, 8))
    g = mc.Gallery(index="hnsw")
    g.add(V)
    g.save(tmp_path / "h")
    np.save(tmp_path / "q.npy", V[:2])
    monkeypatch.setitem(__import__("sys").modules, "faiss", None)
    assert found(run("search", tmp_path / "h", tmp_path / "q.npy", "-k", 1, "--exact", "--json")) == [[0], [1]]
    outcome = run("search", tmp_path / "h", tmp_path / "q.npy")
    assert outcome.code == 1
    assert 'index needs faiss; install it with pip install "manyclass[faiss]"' in " ".join(outcome.err.split())
