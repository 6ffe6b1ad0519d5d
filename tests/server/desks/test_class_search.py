"""Names of classes by some letters."""

import random
import time

import pytest

from manyclass.server.desks.class_search import ClassSearch, search_key

NAMES = ["cat", "Cathedral", "wild cat", "wild_catfish", "scatter", "dog", "Crème brûlée", "elephant statue", "7", "猫"]


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("cat", ["cat", "Cathedral", "wild cat", "wild_catfish", "scatter"]),
        ("CATH", ["Cathedral"]),
        ("wild c", ["wild cat", "wild_catfish"]),
        ("wild-cat", ["wild cat", "wild_catfish"]),
        ("creme bru", ["Crème brûlée"]),
        ("brûl", ["Crème brûlée"]),
        ("elephnat", ["elephant statue"]),
        ("statu", ["elephant statue"]),
        ("sttue", ["elephant statue"]),
        ("dgo", ["dog"]),
        ("doog", ["dog"]),
        ("猫", ["猫"]),
        ("7", ["7"]),
        ("zz", []),
        ("xyzzyx", []),
    ],
)
def test_what_begins_so_comes_first_then_what_has_it_then_what_is_nearly_so(text, first):
    found = ClassSearch(NAMES).find(text)
    assert found[: len(first)] == first
    assert first or not found


def test_without_letters_all_are_told_those_that_are_used_more_first():
    used = {"dog": 3, "scatter": 5}
    found = ClassSearch(NAMES).find("", lambda name: used.get(name, 0))
    assert found[:2] == ["scatter", "dog"]
    assert sorted(found) == sorted(NAMES)


def test_of_those_that_fit_alike_the_ones_that_are_used_more_come_first():
    assert ClassSearch(NAMES).find("wild", lambda name: name == "wild_catfish") == ["wild_catfish", "wild cat"]
    assert ClassSearch(NAMES).find("cat", lambda name: name == "scatter")[0] == "cat"


def test_a_name_is_told_once_however_many_of_its_words_fit():
    assert ClassSearch(["cat cat catty"]).find("cat") == ["cat cat catty"]
    assert ClassSearch(["kitten kitty"]).find("kittn") == ["kitten kitty"]


def test_thousands_of_classes_take_milliseconds():
    rng = random.Random(0)
    words = ["".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randint(3, 10))) for _ in range(3000)]
    search = ClassSearch(" ".join(rng.sample(words, rng.randint(1, 3))) for _ in range(8000))
    asked = ["a", "ab", "abc", "elephnat", words[3][:5], words[4].replace("a", "e"), ""]
    assert max(min(_seconds(search, text) for _ in range(4)) for text in asked) < 0.02  # 5 ms on an idle machine


def _seconds(search, text):
    began = time.process_time()
    search.find(text)
    return time.process_time() - began


def test_keys_are_letters_without_case_accents_and_strokes():
    assert search_key("  A_B-ç  É ") == "a b c e"
