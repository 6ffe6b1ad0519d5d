"""Texts that list names list those of the registries, all of them and no others."""

import re
from typing import get_type_hints

import pytest

import manyclass as mc
from manyclass.cli.train import train
from manyclass.losses.margin import MARGIN_LOSSES
from manyclass.losses.multiclass import SCORE_LOSSES
from manyclass.penalties.norms import PENALTIES
from manyclass.solvers.batch.solve import SOLVER_NAMES, solvers_of
from manyclass.solvers.sgd.objectives import OBJECTIVES

docscrape = pytest.importorskip("numpydoc.docscrape")

OF_TRACE = solvers_of(mc.TraceNorm(1.0))


def described(estimator: type, parameter: str) -> str:
    """The type and the text of a parameter, without its default."""
    found = {entry.name: entry for entry in docscrape.ClassDoc(estimator)["Parameters"]}[parameter]
    return " ".join([found.type.partition(", default")[0], *found.desc])


def option_help(parameter: str) -> str:
    return get_type_hints(train, include_extras=True)[parameter].__metadata__[0].help


@pytest.mark.parametrize(
    ("estimator", "parameter", "names"),
    [
        (mc.LinearClassifier, "loss", SCORE_LOSSES),
        (mc.TraceNormClassifier, "loss", SCORE_LOSSES),
        (mc.TraceNormPath, "loss", SCORE_LOSSES),
        (mc.StochasticClassifier, "loss", MARGIN_LOSSES),
        (mc.StochasticClassifier, "objective", ("auto", *OBJECTIVES)),
        (mc.LinearClassifier, "solver", SOLVER_NAMES),
        (mc.TraceNormClassifier, "solver", OF_TRACE),
    ],
)
def test_a_docstring_names_what_a_parameter_may_be(estimator, parameter, names):
    assert set(re.findall(r'"(\w+)"', described(estimator, parameter))) == set(names)


def test_the_docstring_of_a_linear_classifier_names_every_penalty():
    assert set(re.findall(r"`(\w+)`", described(mc.LinearClassifier, "penalty"))) == set(PENALTIES)


def test_the_help_of_train_names_what_solver_may_be():
    assert set(re.findall(r"\w+", option_help("solver"))) - {"or"} == set(OF_TRACE)


def test_the_help_of_train_names_the_losses_of_each_objective():
    ovr, trace = re.fullmatch(r"ovr: (.*); trace: (.*)\.", option_help("loss")).groups()
    assert (set(ovr.split(", ")), set(trace.split(", "))) == (set(MARGIN_LOSSES), set(SCORE_LOSSES))
