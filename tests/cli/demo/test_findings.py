"""Words follow what was measured, whatever that was."""

import pytest

from manyclass.cli.demo.findings import findings, standing


def measured(**changes):
    """A result of the demo with accuracies to be told of."""
    tuning = [
        {"value": value, "accuracy": share} for value, share in ((1.0, 0.7), (4.0, None), (16.0, 0.9), (499.0, 0.8))
    ]
    shares = {"ovr": 0.9, "ovr-unweighted": 0.8, "softmax": 0.85, "square": 0.84, "trace": 0.88, **changes}
    runs = [
        {
            "name": name,
            "top_1": share,
            "rows": 2500,
            "bytes": 1000,
            "beta": 16.0,
            "rank": 30,
            "tuning": tuning,
            "seconds": 0.5 if name == "square" else 4.0,
        }
        for name, share in shares.items()
    ]
    methods = [
        {"name": "none", "map": 0.5, "low": 0.48, "high": 0.52},
        {"name": "slem", "map": 0.6, "low": 0.58, "high": 0.62},
        {"name": "kernel-slem", "map": 0.49, "low": 0.47, "high": 0.51},
    ]
    compression = {
        "rows": 10, "dimensions": 8, "ratio": 32.0, "relative_error": 0.1, "error_rows": 5, "found": None,
    }  # fmt: skip
    products = {"codes": 0.01, "numpy": 0.02, "columns": 10}
    return {"classes": 500, "runs": runs, "methods": methods, "compression": compression, "products": products}


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"softmax": 0.895},
            "ovr is right most often, 90.0 % of the time; 2,500 pictures cannot tell it from softmax.",
        ),
        ({"ovr": 0.95}, "ovr is right most often, 95.0 % of the time, by more than chance explains"),
        ({}, "One-vs-rest with beta 16, chosen on validation, is 10.0 points ahead of one with all negatives"),
        ({"ovr": 0.79}, "beta 16, chosen on validation, is 1.0 points behind (within chance) one with"),
        ({"ovr": 0.8}, "beta 16, chosen on validation, is level with one with"),
        ({}, "of 3 values, the worst (beta 1) loses 20.0 points on validation"),
        ({}, "The trace norm, of rank 30 for 500 classes, is 2.0 points behind the best of the others, ovr"),
        ({}, "The closed form is 6.0 points behind the best of the others, ovr, after 500.0 ms against 4.0 s."),
        ({"square": 0.95}, "The closed form is 5.0 points ahead of the best of the others, ovr"),
        ({"trace": 0.93}, "is 3.0 points ahead of the best of the others, ovr"),
        ({}, "slem is 10.0 points ahead of features as they are; their intervals are apart"),
        ({}, "kernel-slem is 1.0 points behind features as they are; their intervals overlap"),
        ({}, "a flipped bit was not found"),
        ({}, "2.0 times faster on the codes"),
    ],
)
def test_words_follow_what_was_measured(changes, words):
    assert words in " ".join(findings(measured(**changes)))


def test_all_negatives_may_be_chosen():
    result = measured()
    result["runs"][0]["beta"] = None
    assert "One-vs-rest is best with all negatives, by validation; of 3 values" in " ".join(findings(result))


@pytest.mark.parametrize(("difference", "words"), [(0.02, "ahead of"), (-0.02, "behind"), (0.0001, "level with")])
def test_a_difference_says_who_is_ahead(difference, words):
    assert words in standing(difference, 0.01)
    assert ("chance" in standing(difference, 0.05)) == (words != "level with")
