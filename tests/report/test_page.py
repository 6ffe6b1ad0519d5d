"""The page as a whole: what is on it, and that it is whole, safe and the same every time."""

import base64
import hashlib
import os
import re
import subprocess
import sys
from collections import Counter
from html.parser import HTMLParser

import pytest

from manyclass.report.page import make_sections, render, write_page
from manyclass.report.report_data import collect
from manyclass.runs.records import write_record
from tests.report.synthetic import evaluation_record, retrieval_record, run_record, write_everything, write_run

HOSTILE = "</title></style><script>alert('x')</script><img src=http://x onerror=alert(1)>\"' & $x_1$"
VOID = {"meta", "img", "br", "input", "hr", "wbr"}


class Outline(HTMLParser):
    """Elements and attributes of a page; complains of elements that are closed in another order than opened."""

    def __init__(self, text):
        super().__init__()
        self.seen, self.attributes, self.open = Counter(), [], []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.seen[tag] += 1
        self.attributes += [(tag, *pair) for pair in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.seen[tag] += 1
        self.attributes += [(tag, *pair) for pair in attrs]

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def values(self, name):
        return [value for _, key, value in self.attributes if key == name]


@pytest.fixture(scope="module")
def everything(tmp_path_factory):
    return write_everything(tmp_path_factory.mktemp("everything"))


@pytest.fixture(scope="module")
def text(everything):
    write_page(everything / "report.html", [everything], title="A title")
    return (everything / "report.html").read_text()


SECTIONS = {
    "next", "setup", "runs", "labels", "accuracy", "sizes", "confusions", "examples", "calibration", "curves", "tuning",
    "spectrum", "grid", "embedding", "retrieval", "probe", "audit", "cost",
}  # fmt: skip

_OF_SEVERAL = {"runs", "retrieval", "probe", "audit", "labels"}  # which a run alone does not have


@pytest.fixture
def keys(monkeypatch):
    """keys(path): the sections of a page; they are the same without figures, and made sooner."""
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    return lambda path: {section.key for section in make_sections(collect([path]))}


def test_records_with_everything_fill_every_section(keys, everything):
    assert keys(everything) == SECTIONS


@pytest.mark.parametrize(
    ("changes", "gone"),
    [
        ({"history": None}, "curves"),
        ({"history": [{"epoch": 1, "accuracy": 0.5, "loss": 1.0}]}, "curves"),
        ({"tuning": []}, "tuning"),
        ({"tuning": [{"name": "beta", "value": "auto", "accuracy": 0.5}]}, "tuning"),
        ({"spectrum": None}, "spectrum"),
        ({"grid": None}, "grid"),
        ({"embedding": None}, "embedding"),
        ({"embedding": {"classes": [], "x": [], "y": []}}, "embedding"),
        ({"seconds": None, "peak_bytes": None, "model": None}, "cost"),
    ],
)
def test_a_run_without_something_has_no_section_for_it(keys, tmp_path, changes, gone):
    write_run(tmp_path / "warp", run_record(**changes))
    assert keys(tmp_path) == SECTIONS - {gone, *_OF_SEVERAL}


@pytest.mark.parametrize(
    ("changes", "gone"),
    [
        ({"confusions": []}, "confusions"),
        ({"examples": None}, "examples"),
        ({"by_size": None}, "sizes"),
        ({"calibration": None}, "calibration"),
    ],
    ids=lambda value: str(value),
)
def test_an_evaluation_without_something_has_no_section_for_it(keys, tmp_path, changes, gone):
    write_run(tmp_path / "warp", evaluation=evaluation_record(**changes))
    assert keys(tmp_path) == SECTIONS - {gone, *_OF_SEVERAL}


def test_a_run_that_was_not_evaluated_has_no_accuracies(keys, tmp_path):
    write_run(tmp_path / "warp", evaluation=False)
    gone = {"next", "accuracy", "sizes", "confusions", "examples", "calibration", *_OF_SEVERAL}
    assert keys(tmp_path) == SECTIONS - gone


def test_a_run_of_which_little_is_known_can_be_shown(tmp_path):
    little = run_record()
    for entry in ("history", "tuning", "spectrum", "rank", "grid", "embedding", "model", "seconds", "peak_bytes"):
        del little[entry]
    write_run(tmp_path / "warp", little, evaluation=False)
    write_page(tmp_path / "report.html", [tmp_path])
    assert "1 run: warp." in (tmp_path / "report.html").read_text()


def test_what_is_left_out_is_told(tmp_path):
    write_run(tmp_path / "warp", evaluation=evaluation_record(model="0" * 64))
    said = []
    write_page(tmp_path / "report.html", [tmp_path], warn=said.append)
    assert len(said) == 1
    assert "x-test.json is left out, as it is of another model" in said[0]


def test_a_gallery_alone_makes_a_page(keys, everything):
    assert keys(everything / "gallery") == {"setup", "retrieval"}


def test_elements_are_closed_in_order_and_there_is_one_script(text):
    assert Outline(text).seen["script"] == 1


def test_ids_are_unique_and_every_reference_has_its_target(text):
    outline = Outline(text)
    ids = Counter(outline.values("id"))
    assert max(ids.values()) == 1
    references = {value[1:] for value in outline.values("href")}
    references |= {name for _, _, value in outline.attributes for name in re.findall(r"url\(#([^)]*)\)", value or "")}
    assert references
    assert references <= set(ids)


def test_nothing_points_outside(text):
    outline = Outline(text)
    assert "http" not in text.replace("http-equiv", "")
    assert all(value.startswith("data:image/") for value in outline.values("src"))
    assert all(value.startswith("#") for value in outline.values("href"))
    assert "@import" not in text
    assert re.findall(r"url\((?!#)", text) == []


def test_the_policy_forbids_everything_but_the_page_itself(text):
    policy = Outline(text).values("content")[0]
    script = re.search(r"<script>(.*)</script>", text, re.DOTALL)[1]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert policy.startswith("default-src 'none';")
    assert f"script-src 'sha256-{digest}'" in policy


def test_the_title_is_that_which_was_asked_for(text):
    assert "<title>A title</title>" in text
    assert "<h1>A title</h1>" in text


def test_what_users_name_is_escaped_everywhere(tmp_path):
    classes = [HOSTILE, *(f"{HOSTILE} {i}" for i in range(3))]
    embedding = {"classes": classes, "x": [0, 1, 2, 3], "y": [0, 3, 1, 2]}
    tuning = [{"name": HOSTILE, "value": i, "accuracy": 0.5} for i in range(2)]
    run = run_record(
        HOSTILE,
        embedding=embedding,
        tuning=tuning,
        settings={HOSTILE: HOSTILE},
        versions={HOSTILE: HOSTILE},
        started=HOSTILE,
    )
    run["data"][0] |= {"path": HOSTILE, "fingerprint": HOSTILE, "role": HOSTILE}
    evaluation = evaluation_record(
        per_class=[{"class": name, "rows": 1, "right": 0, "accuracy": 0.0} for name in classes],
        confusions=[{"class": classes[0], "predicted": classes[1], "count": 1, "examples": [HOSTILE]}],
        examples=[{"class": classes[0], "right": [HOSTILE], "wrong": [{"name": HOSTILE, "predicted": HOSTILE}]}],
    )
    write_run(tmp_path / "a <script>", run, evaluation)
    write_run(tmp_path / "b", run, evaluation)
    hit = {"name": HOSTILE, "class": HOSTILE, "score": 1.0, "right": False}
    methods = [{"name": HOSTILE, "map": 0.5}]
    search = retrieval_record(
        protocol=HOSTILE, methods=methods, queries=[{"name": HOSTILE, "class": HOSTILE, "results": [hit]}]
    )
    write_record(tmp_path / "retrieval.json", "retrieval", search)
    write_page(tmp_path / "report.html", [tmp_path], title=HOSTILE)
    text = (tmp_path / "report.html").read_text()
    outline = Outline(text)
    assert (outline.seen["script"], outline.seen["style"], outline.seen["title"] > 1) == (1, 1, True)
    assert {key for _, key, _ in outline.attributes if key.startswith("on")} == set()
    assert text.count("&lt;script&gt;") > 20


@pytest.mark.parametrize("name", ["\x00\x01\x1b[31m", "line\nbreak", "\ud800 half", "漢字 עברית 🙂", "", "$\\frac{"])
def test_names_of_any_letters_are_shown(tmp_path, name):
    embedding = {"classes": [name, "b"], "x": [0, 1], "y": [0, 1]}
    tuning = [{"name": name, "value": i, "accuracy": 0.5} for i in range(2)]
    evaluation = evaluation_record(
        per_class=[{"class": name, "rows": 1, "right": 0}], examples=[{"class": name, "right": [name], "wrong": []}]
    )
    write_run(tmp_path / "warp", run_record(embedding=embedding, tuning=tuning), evaluation)
    write_page(tmp_path / "report.html", [tmp_path])
    Outline((tmp_path / "report.html").read_text())


def test_the_same_records_give_the_same_bytes_in_another_process(everything, text, tmp_path):
    code = "import sys; from manyclass.report.page import write_page; write_page(sys.argv[1], sys.argv[2:], 'A title')"
    command = [sys.executable, "-c", code, str(tmp_path / "x.html"), str(everything)]
    subprocess.run(command, check=True, env=os.environ | {"PYTHONHASHSEED": "77"})
    assert (tmp_path / "x.html").read_text() == text


def test_a_style_of_the_user_changes_nothing(everything, text):
    import matplotlib

    with matplotlib.rc_context({"lines.linewidth": 9, "axes.linewidth": 5, "lines.linestyle": "--"}):
        report = collect([everything])
        assert render(report, make_sections(report), "A title") == text
        assert matplotlib.rcParams["lines.linewidth"] == 9


def test_without_matplotlib_the_page_says_which_extra_and_keeps_its_tables(everything, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    report = collect([everything])
    text = render(report, make_sections(report), "A title")
    assert "pip install &quot;manyclass[plot]&quot;" in text
    assert Outline(text).seen["svg"] == 0
    assert Outline(text).seen["table"] > 3


def test_numbers_of_the_best_run_are_at_the_top(text):
    head = text[: text.index("<nav")]
    for words in ("75.0 %", "85.0 %", "62.0 %", "the best of 2 runs, warp,", "240 rows of the test part", "SLEM"):
        assert words in head
