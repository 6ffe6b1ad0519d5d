"""One event of a label log, and its line."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyclass.runs.labeling.label_event import LabelEvent, check_ids, check_label

EVENT = LabelEvent(3, "2026-01-02T03:04:05.678Z", "ann", "label", ("a.jpg", "b.jpg"), "cat", "dog", "label")

texts = st.text(st.characters(), max_size=20)


@given(texts, st.lists(texts.filter(bool), min_size=1, max_size=4), texts | st.none())
def test_what_is_written_is_read_back_whatever_names_hold(who, ids, label):
    event = LabelEvent(1, "2026-01-02T03:04:05.678Z", who, "label", tuple(ids), label, None, "find")
    line = event.to_line()
    assert line.endswith(b"\n")
    assert LabelEvent.from_line(line[:-1]) == event


@given(texts.filter(bool))
def test_an_event_is_one_line_for_every_program(name):
    line = LabelEvent(1, "", "", "label", (name,), "cat", None, "").to_line()
    assert len(line.decode().splitlines()) == 1


def test_a_line_is_json_that_people_can_read():
    line = LabelEvent(1, "t", "", "label", ("é.jpg",), "Köln", None, "").to_line()
    assert "Köln" in line.decode()
    assert json.loads(line)["ids"] == ["é.jpg"]


def test_every_bit_that_flips_is_found():
    line = EVENT.to_line()[:-1]
    for bit in range(8 * len(line)):
        damaged = bytearray(line)
        damaged[bit // 8] ^= 1 << bit % 8
        with pytest.raises(ValueError, match="checksum"):
            LabelEvent.from_line(bytes(damaged))


@pytest.mark.parametrize(
    "change",
    [
        {"number": 0}, {"number": True}, {"number": "3"}, {"time": 3}, {"who": None}, {"action": "eat"}, {"ids": ()},
        {"ids": (3,)}, {"label": 3}, {"proposed": []}, {"source": None}, {"undoes": 2}, {"action": "undo"},
        {"action": "undo", "undoes": 3}, {"action": "undo", "undoes": True},
    ],
)  # fmt: skip
def test_a_line_that_no_log_writes_is_refused_though_its_checksum_is_right(change):
    from dataclasses import replace

    line = replace(EVENT, **change).to_line()[:-1]
    with pytest.raises(ValueError, match="is no event of a label log"):
        LabelEvent.from_line(line)


def test_labels_have_one_spelling():
    assert check_label("  Cafe\u0301 \n") == "Caf\u00e9"
    assert check_label("two words, 猫 🐈‍⬛") == "two words, 猫 🐈‍⬛"


@pytest.mark.parametrize(
    ("label", "words"),
    [
        ("", "label must not be empty"),
        (" \t\n", "label must not be empty"),
        ("a\nb", r"label must be one line of text; got U\+000A in it"),
        ("a\x00b", r"U\+0000"),
        ("a\x7fb", r"U\+007F"),
        ("a\u2028b", r"U\+2028"),
        ("a\ud800b", r"U\+D800"),
        ("x" * 501, "label must have at most 500 letters; got 501"),
        (3, "label must be a text; got int"),
    ],
)
def test_what_is_no_label_is_one_sentence(label, words):
    with pytest.raises(ValueError, match=words) as caught:
        check_label(label)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("ids", "words"), [([], "got none"), ("a", "put it into a list"), ([""], "''"), ([3], "3")])
def test_what_are_no_ids_is_one_sentence(ids, words):
    with pytest.raises(ValueError, match=words):
        check_ids(ids)
