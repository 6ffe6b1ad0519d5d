"""Which pictures have a class, a label, a folder, or a text in their name."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manyclass.server.finding.picture_filter import Condition, PictureFilter, SaidLabels

WORDS = st.text(st.sampled_from("abAB./ßéÉ\n\u0130"), max_size=8)


@given(ids=st.lists(WORDS, min_size=1, max_size=12), text=WORDS)
def test_texts_are_found_as_a_plain_loop_finds_them(ids, text):
    found = PictureFilter(ids, [None] * len(ids)).mask(Condition(text=text)).tolist()
    assert found == [text.casefold() in one.casefold() for one in ids]


@given(ids=st.lists(WORDS, min_size=1, max_size=12), folder=WORDS.filter(lambda text: text.strip("/")))
def test_a_folder_holds_all_that_is_below(ids, folder):
    found = PictureFilter(ids, [None] * len(ids)).mask(Condition(folder=folder)).tolist()
    assert found == [f"{one.rpartition('/')[0]}/".startswith(f"{folder.rstrip('/')}/") for one in ids]


def test_conditions_hold_together():
    pictures = PictureFilter(["a/cat.jpg", "b/cat.jpg", "a/dog.jpg"], ["cat", "cat", "dog"])
    assert pictures.mask(Condition(class_="cat", folder="a")).tolist() == [True, False, False]
    assert pictures.mask(Condition()).all()
    assert not Condition()
    assert Condition(text="x")


def test_what_people_said_counts_before_what_pictures_came_with():
    pictures = PictureFilter(["1", "2", "3"], ["cat", "cat", None])
    said = SaidLabels.of([1, 2], ["dog", "cat"])
    assert pictures.mask(Condition(class_="cat"), said).tolist() == [True, False, True]
    assert pictures.mask(Condition(label="cat"), said).tolist() == [False, False, True]
    assert pictures.mask(Condition(label="cat")).tolist() == [False, False, False]
    none = SaidLabels.of([], [])
    assert pictures.mask(Condition(class_="cat"), none).tolist() == [True, True, False]


def test_folders_are_counted_with_all_below_them():
    pictures = PictureFilter(["a/b/1", "a/b/2", "a/3", "4"], [None] * 4)
    assert pictures.folders() == [{"name": "a", "count": 3}, {"name": "a/b", "count": 2}]


def test_the_largest_of_many_folders_are_listed():
    ids = [f"f{i}/{j}" for i in range(300) for j in range(1 + (i == 123))]
    listed = PictureFilter(ids, [None] * len(ids)).folders()
    assert len(listed) == 200
    assert {"name": "f123", "count": 2} in listed


def test_classes_are_those_that_pictures_came_with():
    pictures = PictureFilter(["1", "2", "3"], ["b", None, "a"])
    assert pictures.classes == ["b", "a"]
    assert len(np.unique(pictures.class_codes())) == 3


@pytest.mark.parametrize("text", ["jpg", "photo_0001", "zzz"])
def test_a_hundred_thousand_names_take_a_moment(text):
    import time

    pictures = PictureFilter([f"folder{i // 1000}/photo_{i:06}.jpg" for i in range(100_000)], ["x"] * 100_000)
    started = time.process_time()
    pictures.mask(Condition(text=text))
    assert time.process_time() - started < 0.5  # a loop in Python would take as long for the search alone
