"""LinearClassifier: every loss under every penalty, on every matrix."""

import numpy as np
import pytest

import manyclass as mc
from manyclass.losses.multiclass import SCORE_LOSSES, SmoothedHinge, as_score_loss
from tests.estimators.problems import blobs

X, Y = blobs(k=5, d=10)
PENALTIES = [mc.TraceNorm(0.01) + mc.Ridge(0.001), mc.L1Norm(0.005), mc.GroupNorm(0.005), mc.Ridge(0.001)]


@pytest.mark.parametrize("loss", SCORE_LOSSES)
@pytest.mark.parametrize("penalty", PENALTIES, ids=str)
def test_every_loss_meets_every_penalty(loss, penalty):
    model = mc.LinearClassifier(loss=loss, penalty=penalty).fit(X, Y)
    S = X @ model.coef_.T.astype(np.float64) + model.intercept_
    value = as_score_loss(loss).value_and_gradient(S, Y)[0].mean() + penalty.value(model.coef_.T)
    assert model.status_ == "optimal"
    assert model.objective_ == pytest.approx(value, rel=1e-5)
    assert model.score(X, Y) > 0.9


def test_compressed_and_sparse_rows_are_rows():
    import scipy.sparse

    codes = mc.ProductQuantizer(block=2, random_state=0).fit(X).encode(X)
    decoded = mc.LinearClassifier().fit(codes.toarray(), Y)
    assert mc.LinearClassifier().fit(codes, Y).objective_ == pytest.approx(decoded.objective_, rel=1e-4)
    sparse = mc.LinearClassifier().fit(scipy.sparse.csr_array(X), Y)
    assert sparse.objective_ == pytest.approx(mc.LinearClassifier().fit(X, Y).objective_, rel=1e-4)


def test_a_path_of_a_file_is_read(tmp_path):
    np.save(tmp_path / "x.npy", X)
    model = mc.LinearClassifier().fit(tmp_path / "x.npy", Y)
    assert model.coef_.tobytes() == mc.LinearClassifier().fit(X, Y).coef_.tobytes()


def test_without_an_intercept_there_is_none():
    assert not mc.LinearClassifier(fit_intercept=False).fit(X, Y).intercept_.any()


def test_weights_are_repetitions():
    counts = np.arange(len(Y)) % 3
    weighted = mc.LinearClassifier(tolerance=1e-6).fit(X.astype(float), Y, sample_weight=counts)
    repeated = mc.LinearClassifier(tolerance=1e-6).fit(np.repeat(X.astype(float), counts, axis=0), np.repeat(Y, counts))
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=1e-5)


def test_penalties_and_losses_come_back_from_a_file(tmp_path):
    model = mc.LinearClassifier(loss=SmoothedHinge(5.0), penalty=PENALTIES[0]).fit(X, Y)
    model.save(tmp_path / "m")
    found = mc.load(tmp_path / "m")
    assert (found.penalty, found.loss.sharpness) == (model.penalty, 5.0)
    assert found.decision_function(X).tobytes() == model.decision_function(X).tobytes()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"penalty": 0.1}, "penalty must be a Penalty, such as .*; got float"),
        ({"penalty": mc.L1Norm(0.1), "solver": "factored"}, "'factored' needs a penalty with a trace norm; got L1Norm"),
        ({"penalty": mc.Ridge(0.1), "solver": "rank_one"}, "'rank_one' needs a penalty with a gauge"),
    ],
)
def test_a_solver_that_cannot_have_the_penalty_says_so(settings, message):
    with pytest.raises(ValueError, match=message):
        mc.LinearClassifier(**settings).fit(X, Y)
