"""The scripts of the gallery run, and each draws a figure with something in it."""

import runpy
from pathlib import Path

import pytest

import manyclass as mc

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.py"))

pyplot = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture
def figures(monkeypatch):
    """The numbers of the figures that are open; they are closed in the end."""
    pyplot.switch_backend("Agg")
    pyplot.close("all")
    yield pyplot.get_fignums
    pyplot.close("all")


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_draws_one_figure(path, figures):
    # Problems are so small that threads would mostly wait for one another.
    with mc.threads(1):
        runpy.run_path(str(path))
    (number,) = figures()
    charts = pyplot.figure(number).axes
    assert charts
    assert all(chart.lines or chart.images or chart.collections or chart.patches for chart in charts)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_an_example_is_one_that_the_gallery_runs(path):
    assert path.name.startswith("plot_")
