"""What is said of a default by its gain over cosines, and rows that are known already."""

import json

import pytest

from experiments import photographs, search_defaults


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("MANYCLASS_CACHE", str(tmp_path))
    photographs.room.cache_clear()
    yield tmp_path
    photographs.room.cache_clear()


def gained(gain, low, high):
    return {"map": 30.0 + gain, "method": "slem", "gain": gain, "low": low, "high": high}


@pytest.mark.parametrize(
    ("found", "told"),
    [(gained(-0.3, -2, 1), "within"), (gained(-0.8, -2.5, 0.8), "not told"), (gained(-3, -4, -2), "behind")],
)
def test_a_loss_is_one_if_queries_tell(found, told):
    assert search_defaults._told(found) == told


def test_the_summary_names_what_is_not_told():
    row = {"name": "DVD covers", "features": "network", "kind": "foreign", "plain": gained(-0.8, -2.5, 0.8)}
    other = row | {"kind": "its own", "plain": gained(5, 3, 7)}
    words = search_defaults._summary("Without labels", [row, other], "plain")
    assert "gains +2.1 points on average over 2 pairs" in words
    assert "above them on 1, on 1 so few queries do not tell, and on 0 it is behind." in words
    assert words.endswith("Not told: DVD covers by network against foreign.")


def test_rows_that_are_known_are_not_measured_again(cache):
    def refuse():
        raise AssertionError("it is known")

    known = {"cosine": 30.0, "number": 9, "plain": gained(1, 0, 2), "tuned": None}
    for kind in search_defaults.KINDS:
        (cache / f"search_defaults-a-b-{kind}-{photographs.code_digest()}.json").write_text(json.dumps(known))
    rows = search_defaults._rows("a", "b", refuse)
    assert [row["kind"] for row in rows] == list(search_defaults.KINDS)
    assert search_defaults._cells(rows[0])[4:9] == ["30.0", "31.0", "+1.0 (+0.0 to +2.0)", "within", "slem"]
