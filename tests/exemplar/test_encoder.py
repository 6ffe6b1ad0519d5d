"""What every encoder promises: from negatives to codes, on any matrix, and through a file."""

import json

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import manyclass as mc
from manyclass._core.models import FORMAT
from tests.contracts.matrix import MAKERS
from tests.exemplar.problems import DISCRIMINATIVE, ENCODERS, LINEAR, TRAINED, pool, unit

every = pytest.mark.parametrize("make", ENCODERS.values(), ids=ENCODERS)
discriminative = pytest.mark.parametrize("make", DISCRIMINATIVE.values(), ids=DISCRIMINATIVE)


@parametrize_with_checks(
    [
        mc.SquareLossExemplar(),
        mc.ExemplarLDA(),
        mc.WhitenedPCA(),
        mc.ExemplarSVM(n_steps=100, n_background=4),
        mc.ExemplarSVM(10.0, solver="exact", tolerance=0.01, n_background=4),
    ]
)
def test_scikit_learn_finds_nothing_to_complain_about(estimator, check):
    check(estimator)


@every
def test_codes_are_float32_rows_of_unit_length(make):
    X, Q = pool()
    enc = make().fit(X)
    C = enc.transform(Q)
    assert C.dtype == np.float32
    assert C.shape == (9, enc.n_features_out_)
    np.testing.assert_allclose(np.linalg.norm(C, axis=1), 1, atol=1e-6)


@every
def test_an_image_has_the_same_code_alone_and_among_others(make):
    X, Q = pool()
    enc = make().fit(X)
    alone = np.concatenate([enc.transform(q[None]) for q in Q])
    np.testing.assert_allclose(alone, enc.transform(Q), atol=1e-6)


@every
def test_the_number_of_threads_changes_no_bit(make):
    quick = make in LINEAR.values()
    X, Q = pool(n=3000 if quick else 150, d=40 if quick else 6, dtype=np.float32)
    Q = np.tile(Q, (300 if quick else 1, 1))
    found = []
    for n_threads in (1, 2):
        with mc.threads(n_threads):
            found.append(make().fit(X).transform(Q).tobytes())
    assert found[0] == found[1]


@every
@pytest.mark.parametrize("kind", MAKERS)
def test_every_kind_of_matrix_is_encoded_like_its_rows(make, kind):
    rng = np.random.default_rng(1)
    X, Q = MAKERS[kind](rng, 40, 6), MAKERS[kind](rng, 5, 6)
    found = make().fit(X).transform(Q)
    np.testing.assert_allclose(found, make().fit(X.toarray()).transform(Q.toarray()), atol=2e-5)


@every
def test_a_file_brings_back_the_same_codes_and_settings(make, tmp_path):
    X, Q = pool(dtype=np.float32)
    enc = make().fit(X)
    enc.save(tmp_path / "encoder")
    found = mc.load(tmp_path / "encoder")
    assert found.get_params() == enc.get_params()
    assert found.transform(Q).tobytes() == enc.transform(Q).tobytes()
    assert found.background_.tobytes() == enc.background_.tobytes()


@every
def test_a_file_with_the_former_names_is_read(make, tmp_path):
    """Earlier versions had `pool`, `pool_`, `pool_pull_` and `pool_leverage_` in place of what `former_names` has."""
    X, Q = pool(dtype=np.float32)
    enc = make().fit(X)
    enc.save(tmp_path / "new")
    content, arrays = FORMAT.read(tmp_path / "new")

    def former(text):
        return text.replace("n_background", "pool").replace("background_", "pool_")

    old = {former(name): array for name, array in arrays.items()}
    FORMAT.write(tmp_path / "old", json.loads(former(json.dumps(content))), old)
    assert b"background" not in (tmp_path / "old").read_bytes()
    found = mc.load(tmp_path / "old")
    assert found.get_params() == enc.get_params()
    C = enc.transform(Q)
    assert found.background_similarity(C).tobytes() == enc.background_similarity(C).tobytes()


@discriminative
def test_a_file_brings_back_the_same_classifiers(make, tmp_path):
    X, Q = pool()
    enc = make().fit(X)
    enc.save(tmp_path / "encoder")
    W, bias = mc.load(tmp_path / "encoder").classifier(Q)
    assert (W.tobytes(), bias.tobytes()) == tuple(a.tobytes() for a in enc.classifier(Q))


@pytest.mark.parametrize("name", TRAINED)
def test_negatives_that_are_codes_are_saved_as_rows(name, tmp_path):
    X, Q = pool(n=300, dtype=np.float32)
    codes = mc.ProductQuantizer(block=2, n_centroids=16, random_state=0).fit(X).encode(X)
    enc = TRAINED[name]().fit(codes)
    enc.save(tmp_path / "encoder")
    found = mc.load(tmp_path / "encoder")
    assert found.transform(Q).tobytes() == enc.transform(Q).tobytes()
    assert enc.negatives_ is codes


@every
def test_an_encoder_is_not_saved_before_it_is_fitted(make, tmp_path):
    with pytest.raises(NotFittedError):
        make().save(tmp_path / "encoder")


@pytest.mark.parametrize("make", LINEAR.values(), ids=LINEAR)
def test_a_file_whose_arrays_do_not_fit_is_refused(make, tmp_path):
    enc = make().fit(pool()[0])
    enc.mean_ = enc.mean_[:-1]
    enc.save(tmp_path / "encoder")
    with pytest.raises(ValueError, match=r"mean_ must have shape \(7,\); got \(6,\)"):
        mc.load(tmp_path / "encoder")


@every
def test_the_background_set_holds_embeddings_of_negatives(make):
    X, _ = pool()
    enc = make().set_params(n_background=5).fit(X)
    assert enc.background_.shape == (5, enc.n_features_out_)
    nearest = np.abs(enc.background_[:, None] - enc.transform(X)).max(axis=2).min(axis=1)
    assert nearest.max() < 1e-6


def test_the_background_set_is_drawn_by_the_seed_and_is_all_negatives_if_they_are_few():
    X, _ = pool()
    drawn = [
        mc.SquareLossExemplar(n_background=5, random_state=seed).fit(X).background_.tobytes() for seed in (0, 0, 1)
    ]
    assert drawn[0] == drawn[1] != drawn[2]
    enc = mc.SquareLossExemplar(n_background=500).fit(X)
    np.testing.assert_allclose(enc.background_, enc.transform(X), atol=1e-6)


@every
def test_similarity_is_the_product_of_codes(make):
    X, Q = pool()
    enc = make().fit(X)
    C, D = enc.transform(Q), enc.transform(X)
    np.testing.assert_allclose(enc.similarity(C, D), C.astype(float) @ D.T.astype(float), atol=1e-6)


@pytest.mark.parametrize("C", [np.zeros((2, 6)), np.zeros(7), np.zeros((1, 2, 7))])
def test_codes_of_another_length_are_refused(C):
    enc = mc.SquareLossExemplar().fit(pool()[0])
    with pytest.raises(ValueError, match=r"C must have shape \(n, 7\), as transform returns it; got"):
        enc.similarity(C, np.zeros((1, 7)))


@every
def test_pipelines_and_clones_work(make):
    X, Q = pool()
    Z = make_pipeline(StandardScaler(), make()).fit(X).transform(Q)
    scaler = StandardScaler().fit(X)
    expected = clone(make()).fit(scaler.transform(X)).transform(scaler.transform(Q))
    np.testing.assert_allclose(Z, expected, atol=1e-6)


@every
@pytest.mark.parametrize("number", [np.nan, np.inf])
@pytest.mark.parametrize("wrap", [np.asarray, mc.DenseMatrix])
def test_numbers_that_are_none_are_refused_with_their_row(make, number, wrap):
    X, Q = pool()
    enc = make().fit(X)
    bad_negatives, bad = X.copy(), Q.copy()
    bad_negatives[3, 2] = bad[4, 1] = number
    with pytest.raises(ValueError, match="finite numbers; row 3 has NaN or infinity"):
        make().fit(wrap(bad_negatives))
    with pytest.raises(ValueError, match="finite numbers; row 4 has NaN or infinity"):
        enc.transform(wrap(bad))


@every
def test_a_failed_fit_leaves_the_encoder_as_it_was(make):
    X, Q = pool()
    enc = make().fit(X)
    before = enc.transform(Q).tobytes()
    with pytest.raises(ValueError, match="finite"):
        enc.fit(np.full((5, 3), np.nan))
    assert enc.transform(Q).tobytes() == before


@every
@pytest.mark.parametrize("wrap", [np.asarray, mc.DenseMatrix])
def test_images_of_another_dimension_are_refused(make, wrap):
    enc = make().fit(pool()[0])
    with pytest.raises(ValueError, match=r"X has 6 features, but .* is expecting 7 features"):
        enc.transform(wrap(np.zeros((2, 6))))


@discriminative
@pytest.mark.parametrize("x", [np.zeros(6), np.zeros((2, 6)), np.zeros((1, 1, 7)), 3.0])
def test_a_classifier_of_another_dimension_is_refused(make, x):
    enc = make().fit(pool()[0])
    with pytest.raises(ValueError, match="x must have 7 numbers, or rows of them; got shape"):
        enc.classifier(x)


@discriminative
def test_a_classifier_of_nan_is_refused(make):
    enc = make().fit(pool()[0])
    with pytest.raises(ValueError, match="x must hold finite numbers"):
        enc.classifier(np.full(7, np.nan))


@discriminative
def test_the_code_is_the_direction_of_the_classifier(make):
    X, Q = pool()
    enc = make().fit(X)
    W, biases = enc.classifier(Q)
    np.testing.assert_allclose(enc.transform(Q), unit(W), atol=1e-6)
    w, bias = enc.classifier(Q[3])
    np.testing.assert_allclose(w, W[3], rtol=1e-9, atol=1e-12)
    assert bias == pytest.approx(biases[3], rel=1e-9)


@discriminative
def test_the_image_is_above_the_negatives(make):
    X, Q = pool(n=30, d=40)
    enc = make().fit(X)
    W, biases = enc.classifier(Q)
    above = np.einsum("ij,ij->i", W, Q) + biases > (X @ W.T + biases).max(axis=0)
    assert above.all() if make is not DISCRIMINATIVE["lda"] else above.mean() > 0.5


@every
def test_no_images_have_no_codes(make):
    enc = make().fit(pool()[0])
    assert enc.transform(mc.DenseMatrix(np.zeros((0, 7)))).shape == (0, enc.n_features_out_)


@every
@pytest.mark.parametrize("size", [0, -1, 2.5, True])
def test_a_background_set_of_nothing_is_refused(make, size):
    with pytest.raises(ValueError, match="n_background must be a whole number, at least 1; got"):
        make().set_params(n_background=size).fit(pool()[0])


KINDS = ["SquareLossExemplar", "ExemplarLDA", "WhitenedPCA", "ExemplarSVM", "KernelSquareLossExemplar"]


def encoder_of(name):
    """An encoder with a small background set and few steps: a machine for each of its images takes ExemplarSVM long."""
    few = {"n_steps": 1000} if name == "ExemplarSVM" else {}
    return getattr(mc, name)(random_state=0, n_background=4, **few)


@pytest.mark.parametrize("name", KINDS)
def test_negatives_far_from_zero_have_the_similarities_of_others(name):
    X = np.random.default_rng(0).standard_normal((60, 6))
    near, far = (encoder_of(name).fit(X + offset) for offset in (0, 1e6))
    one, other = near.transform(X[:2]), far.transform(X[:2] + 1e6)
    np.testing.assert_allclose(far.similarity(other, other), near.similarity(one, one), atol=0.02)


@pytest.mark.parametrize("name", KINDS)
def test_a_column_of_the_negatives_that_dwarfs_the_others_is_told_of(name):
    X = np.random.default_rng(0).standard_normal((60, 6)) * np.array([1, 1, 1e7, 1, 1, 1])
    encoder = encoder_of(name)
    if hasattr(encoder, "regularization"):
        encoder.set_params(regularization=1e3)
    with pytest.warns(UserWarning, match="column 2 of X has all but"):
        encoder.fit(X)


@pytest.mark.parametrize("name", KINDS)
def test_images_on_another_scale_than_the_negatives_are_told_of(name):
    X = np.random.default_rng(0).standard_normal((60, 6))
    encoder = encoder_of(name).fit(X)
    encoder.transform(X[:3])
    with pytest.warns(UserWarning, match=f"{name} was fitted on rows of lengths from"):
        encoder.transform(100 * X[:3])
