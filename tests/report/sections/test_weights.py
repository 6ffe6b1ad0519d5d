"""What the page says of weights is what the records hold."""

from manyclass.report.sections.weights import chosen_pair, show_embedding, show_path_grid, show_spectrum


def test_rank_and_concentration_are_said(report):
    body = show_spectrum(report()).body
    assert "warp has rank 5 of at most 12; the first 3 carry 88 % of the sum." in body
    assert "The rank is in how many independent directions" in body


def test_the_framed_pair_is_that_of_the_model_or_else_the_most_accurate(report):
    best = chosen_pair(report().runs[0])
    assert (best["trace"], best["ridge"]) == (1e-3, 1e-5)
    model = {"estimator": "TraceNormClassifier", "classes": 3, "columns": 4, "trace": 1e-2, "ridge": 1e-4}
    made = chosen_pair(report({"model": model}).runs[0])
    assert (made["trace"], made["ridge"]) == (1e-2, 1e-4)


def test_every_cell_of_the_grid_says_its_value(report):
    body = show_path_grid(report()).body
    assert "<title>ridge 1.0e-05, trace 1.0e-03: 85.0, chosen</title>" in body
    assert body.count("<title>") == 2 * 3 * 6


def test_every_class_of_the_embedding_says_its_name(report):
    body = show_embedding(report()).body
    assert all(f"<title>class {i}</title>" in body for i in range(12))
    assert "class 3 and class 0 are farthest apart along the first" in body


def test_classes_beyond_the_border_are_named(report):
    far = {"classes": [f"class {i}" for i in range(12)], "x": [*range(11), 999], "y": list(range(12))}
    assert (
        "An arrow at the border is class 11, which lies so far off" in show_embedding(report({"embedding": far})).body
    )
    far["x"][0] = -999
    words = "Arrows at the border are class 0 and class 11, which lie so far off"
    assert words in show_embedding(report({"embedding": far})).body
    assert "rrow" not in show_embedding(report()).body
