"""What is said of images that a gallery keeps, beside what it kept before."""

import pytest

from experiments import strangers
from experiments.results import Results


def draws(mean, spread):
    """Ten numbers with this mean and a standard deviation near the spread."""
    return [mean + spread * sign for sign in (-1, 1)] * 5


def told(values, key=("Caltech", 20)):
    page = Results("strangers", "")
    strangers._say_kept(page, {key: values})
    return page.parts[0].splitlines()[-1].split(" | ")[-1].removesuffix(" |")


@pytest.mark.parametrize(
    ("values", "verdict"),
    [(draws(51, 17), "within"), (draws(44, 17), "not told"), (draws(44, 1), "behind"), (draws(49.9, 1), "not told")],
)
def test_what_is_kept_is_judged_by_its_interval(values, verdict):
    assert told(values) == verdict


def test_the_interval_counts_that_draws_of_before_were_few():
    # The difference of two means of the same spread: sd * sqrt(1 / n + 1 / m), n here and m before.
    values = draws(44, 17)
    below, half = strangers.below_before(values, 50)
    sd = (10 / 9) ** 0.5 * 17
    assert below == pytest.approx(6)
    assert half == pytest.approx(2.262 * sd * (1 / 10 + 1 / strangers.DRAWS_BEFORE) ** 0.5, rel=1e-3)


def test_what_was_not_known_before_has_no_table():
    page = Results("strangers", "")
    strangers._say_kept(page, {})
    assert page.parts == []
