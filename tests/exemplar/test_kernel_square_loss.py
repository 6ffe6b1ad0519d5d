"""The kernel machine against the minimizer of its objective by one linear system, and against the linear machine."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

import manyclass as mc
from manyclass import KernelSquareLossExemplar as Machine
from manyclass.data.kernels import exemplar_kernel
from manyclass.exemplar import _kernel_embeddings, calibrate, factorizations
from manyclass.exemplar._kernel_embeddings import KernelEmbeddings, computed_values, given_values, kernel_similarity
from manyclass.exemplar.factorizations import complete_cholesky, incomplete_cholesky
from manyclass.exemplar.gram import GramOfRows
from tests.exemplar import kernel_twin
from tests.exemplar.problems import pool

FACTORIZATIONS = ("cholesky", "kpca", "nystrom", "incomplete_cholesky", "incomplete_cholesky_pinv")
rng = np.random.default_rng(0)
NEGATIVES = rng.standard_normal((40, 6)).astype(np.float32)
IMAGES = rng.standard_normal((9, 6)).astype(np.float32)


def laplacian(A, B):
    return np.exp(-0.2 * np.abs(A[:, None] - B).sum(axis=2))


def compared(encoder, images=IMAGES):
    codes = encoder.transform(images)
    return encoder.similarity(codes, codes)


def scores(encoder, x, images):
    return encoder.classifier(x).decision_function(images)


def problem(seed):
    """(kernel, gamma, lambda, theta, factorization, negatives, images): some with fewer negatives than columns."""
    rng = np.random.default_rng(seed)
    n, d, m = rng.integers(1, 30), rng.integers(1, 9), 5
    X = (rng.standard_normal((n + m, d)) * rng.uniform(0.3, 2)).astype(np.float32)
    kernel = ("linear", "rbf", "poly", laplacian)[seed % 4]
    numbers = [10.0**power for power in (rng.uniform(-2, 0), rng.uniform(-3, 0), rng.uniform(-1, 1))]
    return kernel, *numbers, FACTORIZATIONS[seed % 3], X[:n], X[n:]


def solved(seed):
    """An encoder, images, all points of its problem, and (h, bias) for every image by one linear system each."""
    kernel, gamma, strength, theta, factorization, negatives, images = problem(seed)
    encoder = Machine(kernel, gamma, strength, factorization=factorization, positive_weight=theta).fit(negatives)
    everything = np.vstack([negatives, images]).astype(np.float64)
    Z = kernel_twin.points_of(exemplar_kernel(kernel, gamma)(everything, everything))
    twins = [kernel_twin.machine(x, Z[: len(negatives)], strength, theta) for x in Z[len(negatives) :]]
    return encoder, images, everything, Z, twins


@pytest.mark.parametrize("seed", range(50))
def test_the_machine_minimizes_its_objective(seed):
    encoder, images, everything, Z, twins = solved(seed)
    for x, (h, bias) in zip(images, twins, strict=True):
        np.testing.assert_allclose(scores(encoder, x, everything), Z @ h + bias, atol=1e-6)


@pytest.mark.parametrize("seed", range(50))
def test_similarity_in_float64_is_the_cosine_of_the_minimizers(seed, monkeypatch):
    monkeypatch.setattr(_kernel_embeddings, "_RESOLUTION", 1e-11)
    encoder, images, _, _, twins = solved(seed)
    parts = KernelEmbeddings(encoder._encode(images.astype(np.float64)), encoder.rank_)
    found = _kernel_embeddings.kernel_similarity(parts, parts, computed_values(encoder._kernel(), parts, parts))
    np.testing.assert_allclose(found, kernel_twin.cosines(np.stack([h for h, _ in twins])), atol=1e-6)


@pytest.mark.parametrize("seed", range(50))
def test_similarity_of_codes_is_that_cosine_as_far_as_float32_tells(seed):
    encoder, images, _, Z, twins = solved(seed)
    # A code's h is smaller than the image by what the negatives explain, and is a difference of numbers of its size.
    lengths = [np.linalg.norm(h) / encoder.classifier(x).scale for x, (h, _) in zip(images, twins, strict=True)]
    lost = np.linalg.norm(Z[-len(images) :], axis=1) / lengths
    expected = kernel_twin.cosines(np.stack([h for h, _ in twins]))
    np.testing.assert_allclose(compared(encoder, images), expected, atol=2.0**-22 * (1 + np.max(lost) ** 2))


@pytest.mark.parametrize(("factorization", "rank"), [("incomplete_cholesky", 5), ("kpca", 5)])
def test_with_a_low_rank_the_negatives_are_their_projections(factorization, rank):
    encoder = Machine("rbf", 0.2, 1e-2, rank, factorization).fit(NEGATIVES)
    everything = np.vstack([NEGATIVES, IMAGES]).astype(np.float64)
    Z = kernel_twin.points_of(exemplar_kernel("rbf", 0.2)(everything, everything))
    N, P = Z[:40], Z[40:]
    spanning = N[encoder.positions_].T if factorization == "incomplete_cholesky" else np.linalg.svd(N)[2][:rank].T
    Q = np.linalg.qr(spanning)[0]
    twins = [kernel_twin.machine(x, N @ Q @ Q.T, 1e-2, 1.0) for x in P]
    for x, (h, bias) in zip(IMAGES, twins, strict=True):
        np.testing.assert_allclose(scores(encoder, x, IMAGES), P @ h + bias, atol=1e-6)
    np.testing.assert_allclose(compared(encoder), kernel_twin.cosines(np.stack([h for h, _ in twins])), atol=2e-6)


@pytest.mark.parametrize("strength", [10.0, 1e-1, 1e-3])
def test_coordinates_by_the_pseudoinverse_give_the_printed_similarity(strength):
    """Eq. 11 to 16 of Rezende et al. as they stand, with v = B^+ k: where u^2 is below zero nothing is alike."""
    encoder = Machine("rbf", 0.2, strength, 5, "incomplete_cholesky_pinv").fit(NEGATIVES)
    K = exemplar_kernel("rbf", 0.2)
    N, P = NEGATIVES.astype(np.float64), IMAGES.astype(np.float64)
    B = incomplete_cholesky(GramOfRows(mc.as_matrix(NEGATIVES), K), 5).B
    V = K(P, N) @ np.linalg.pinv(B).T
    A = np.cov(B.T, bias=True) + strength * np.eye(5)
    S = strength * np.linalg.solve(A, (V - B.mean(axis=0)).T).T
    products = S @ S.T + K(P, P) - V @ V.T
    squares = products.diagonal()
    lengths = np.sqrt(np.outer(np.maximum(squares, 0), np.maximum(squares, 0)))
    expected = np.divide(products, lengths, out=np.zeros_like(products), where=lengths > 0)
    np.testing.assert_allclose(compared(encoder), expected, rtol=1e-3, atol=1e-5)


def test_what_the_pseudoinverse_leaves_of_two_images_is_not_bounded_by_their_lengths():
    """k(x, y) - v'w of coordinates that are of no projection may be any number."""
    coordinates = np.float32([[1.5, 0.0], [0.0, 0.8]])
    slopes = np.float32([[0.0, 3.0], [1.0, 2.0]])
    embeddings = KernelEmbeddings(np.hstack([slopes, coordinates]), 2, are_projections=False)
    K = np.array([[1.0, 0.9], [0.9, 1.0]])
    values = given_values((K, K.diagonal(), K.diagonal()), embeddings, embeddings)
    H = np.array([[9 + 1 - 1.5**2, 6 + 0.9], [6 + 0.9, 5 + 1 - 0.8**2]])
    lengths = np.sqrt(H.diagonal())
    np.testing.assert_allclose(
        kernel_similarity(embeddings, embeddings, values), H / np.outer(lengths, lengths), rtol=1e-6
    )


@pytest.mark.parametrize("factorization", FACTORIZATIONS)
@pytest.mark.parametrize("strength", [1.0, 1e-3, 1e-6])
@pytest.mark.parametrize("n", [4, 40])
def test_with_the_linear_kernel_it_is_the_linear_machine(factorization, strength, n):
    linear = mc.SquareLossExemplar(strength).fit(NEGATIVES[:n])
    encoder = Machine("linear", regularization=strength, factorization=factorization).fit(NEGATIVES[:n])
    w, bias = linear.classifier(IMAGES[0])
    found = encoder.classifier(IMAGES[0])
    np.testing.assert_allclose(found.decision_function(NEGATIVES), NEGATIVES @ w + bias, atol=1e-6)
    assert found.bias == pytest.approx(bias, abs=1e-6)
    # Codes are float32 in both.
    np.testing.assert_allclose(compared(encoder), compared(linear), atol=1e-5)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly", laplacian])
@pytest.mark.parametrize("negatives", [NEGATIVES, np.repeat(NEGATIVES[:10], 3, axis=0)], ids=["distinct", "repeated"])
def test_all_factorizations_of_full_rank_agree(kernel, negatives):
    found = [Machine(kernel, 0.1, factorization=name).fit(negatives) for name in FACTORIZATIONS]
    for encoder in found[1:]:
        np.testing.assert_allclose(compared(encoder), compared(found[0]), atol=1e-6)
        expected = scores(found[0], IMAGES[0], NEGATIVES)
        np.testing.assert_allclose(scores(encoder, IMAGES[0], NEGATIVES), expected, atol=1e-8)


@pytest.mark.parametrize("factorization", FACTORIZATIONS)
def test_an_image_among_the_negatives_has_nothing_outside_what_they_span(factorization):
    encoder = Machine("rbf", 0.2, factorization=factorization).fit(NEGATIVES)
    codes = encoder.transform(NEGATIVES)
    S = encoder.similarity(codes, codes)
    slopes = codes[:, 6 : 6 + encoder.rank_].astype(np.float64)
    np.testing.assert_allclose(S, kernel_twin.cosines(slopes), atol=1e-6)


@pytest.mark.parametrize("factorization", FACTORIZATIONS)
@pytest.mark.parametrize("negatives", [IMAGES[:1], np.zeros((1, 6)), np.zeros((5, 6))], ids=["one", "zero", "zeros"])
def test_one_negative_and_zeros_are_enough(factorization, negatives):
    encoder = Machine("linear", regularization=0.5, factorization=factorization).fit(negatives)
    h = IMAGES - negatives[:1].astype(np.float64)
    expected = kernel_twin.cosines(h[1:])
    np.testing.assert_allclose(compared(encoder, IMAGES[1:]), expected, atol=1e-6)


def test_an_image_that_is_the_only_negative_has_no_direction():
    encoder = Machine("poly", 0.3).fit(IMAGES[:1])
    found = compared(encoder, IMAGES[:2])
    np.testing.assert_array_equal(found[0], 0)
    assert found[1, 1] == pytest.approx(1)


@pytest.mark.parametrize("factorization", FACTORIZATIONS)
def test_a_precomputed_kernel_is_the_kernel_that_it_was_computed_by(factorization):
    kernel = exemplar_kernel("poly", 0.3)
    X, Y = NEGATIVES.astype(np.float64), IMAGES.astype(np.float64)
    named = Machine("poly", 0.3, factorization=factorization).fit(X)
    given = Machine("precomputed", factorization=factorization).fit(kernel(X, X))
    codes = given.transform(kernel(Y, X))
    assert codes.shape == (9, 2 * given.rank_)
    values = kernel(Y, Y), kernel.diagonal(Y), kernel.diagonal(Y)
    np.testing.assert_allclose(given.similarity(codes, codes, values), compared(named), atol=1e-6)


def test_without_the_kernel_of_two_images_those_of_their_projections_are_compared():
    X = NEGATIVES.astype(np.float64)
    given = Machine("precomputed").fit(X @ X.T)
    codes = given.transform(IMAGES @ X.T)
    # Of more negatives than columns a linear kernel leaves nothing outside what they span.
    np.testing.assert_allclose(given.similarity(codes, codes), compared(Machine("linear").fit(NEGATIVES)), atol=1e-5)
    x = IMAGES[0].astype(np.float64) @ X.T
    expected = scores(Machine("linear").fit(NEGATIVES), IMAGES[0], NEGATIVES)
    np.testing.assert_allclose(scores(given, x, X @ X.T), expected, atol=1e-6)


def test_codes_hold_the_image_its_slope_and_its_coordinates():
    encoder = Machine("rbf", 0.2, 1e-2, 5, "kpca", n_background=7, random_state=0).fit(NEGATIVES)
    codes = encoder.transform(IMAGES)
    assert codes.dtype == np.float32
    assert codes.shape == (9, encoder.n_features_out_) == (9, 6 + 2 * 5)
    assert encoder.background_.shape == (7, 16)
    np.testing.assert_array_equal(codes[:, :6], IMAGES)
    machine = encoder.classifier(IMAGES[3])
    np.testing.assert_allclose(codes[3, 6:], np.concatenate([machine.slope, machine.coordinates]), rtol=1e-6)


@pytest.mark.parametrize("factorization", FACTORIZATIONS)
@pytest.mark.parametrize("kernel", ["poly", "precomputed"])
def test_a_saved_encoder_gives_the_same_bits(tmp_path, factorization, kernel):
    given = kernel == "precomputed"
    X, Y = (NEGATIVES @ NEGATIVES.T, IMAGES @ NEGATIVES.T) if given else (NEGATIVES, IMAGES)
    encoder = Machine(kernel, 0.3, factorization=factorization, random_state=0).fit(X)
    encoder.save(tmp_path / "encoder")
    loaded = mc.load(tmp_path / "encoder")
    np.testing.assert_array_equal(loaded.transform(Y), encoder.transform(Y))
    np.testing.assert_array_equal(compared(loaded, Y), compared(encoder, Y))
    np.testing.assert_array_equal(scores(loaded, Y[0], Y), scores(encoder, Y[0], Y))
    np.testing.assert_array_equal(loaded.background_, encoder.background_)


def test_a_function_cannot_be_saved(tmp_path):
    with pytest.raises(TypeError, match="kernel must be a name for the encoder to be saved"):
        Machine(laplacian).fit(NEGATIVES).save(tmp_path / "encoder")


@pytest.mark.parametrize("factorization", FACTORIZATIONS)
def test_the_bits_do_not_depend_on_the_number_of_threads(factorization):
    rng = np.random.default_rng(1)
    rank, n = (None, 400) if factorization == "cholesky" else (20, 1100)
    X, Y = rng.standard_normal((n, 16)), rng.standard_normal((1100, 16))
    found = []
    for n_threads in (1, 2):
        with mc.threads(n_threads):
            encoder = Machine("rbf", 0.05, rank=rank, factorization=factorization, random_state=0).fit(X)
            codes = encoder.transform(Y)
            found.append((codes, encoder.similarity(codes, codes[:300])))
    np.testing.assert_array_equal(found[0][0], found[1][0])
    np.testing.assert_array_equal(found[0][1], found[1][1])


@pytest.mark.parametrize("factorization", FACTORIZATIONS)
def test_negatives_and_images_may_be_any_matrix(tmp_path, factorization):
    np.save(tmp_path / "X.npy", NEGATIVES)
    encoder = Machine("rbf", 0.2, factorization=factorization, random_state=0)
    expected = clone(encoder).fit(NEGATIVES).transform(NEGATIVES)
    np.testing.assert_array_equal(encoder.fit(tmp_path / "X.npy").transform(tmp_path / "X.npy"), expected)
    codes = mc.ProductQuantizer(2, n_centroids=16, random_state=0).fit(NEGATIVES).encode(NEGATIVES)
    expected = clone(encoder).fit(codes.toarray()).transform(codes.toarray())
    np.testing.assert_allclose(encoder.fit(codes).transform(codes), expected, atol=1e-6)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"kernel": "cosine"}, "kernel must be one of linear, rbf, poly, precomputed; got 'cosine'"),
        (
            {"factorization": "qr"},
            r"factorization must be one of cholesky, kpca, nystrom, .*; got 'qr'",
        ),
        ({"rank": 5}, "rank must be None for a complete factorization; got 5, so use factorization='kpca'"),
        ({"rank": 0, "factorization": "kpca"}, "rank must be a whole number, at least 1; got 0"),
        ({"regularization": 0.0}, r"regularization must be a finite number above 0, or 'auto'; got 0\.0"),
        ({"gamma": -1.0}, r"gamma must be a finite number above 0, or 'auto'; got -1\.0"),
        ({"positive_weight": 0}, "positive_weight must be a finite number above 0; got 0"),
        ({"kernel": lambda A, B: np.zeros(2)}, r"kernel must return an array of shape \(\d+, \d+\)"),
        ({"kernel": "precomputed"}, r"negatives must be a square Gram matrix .* got shape \(40, 6\)"),
    ],
)
def test_settings_that_cannot_be_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        Machine(**settings).fit(NEGATIVES)


def test_a_rank_above_the_number_of_negatives_is_that_number():
    assert Machine(rank=100, factorization="kpca").fit(NEGATIVES).rank_ == 40


@pytest.mark.parametrize("ask", [lambda e, X: e.fit(X), lambda e, X: e.transform(X), lambda e, X: e.classifier(X[0])])
@pytest.mark.parametrize(
    ("X", "message"),
    [
        (np.full((2, 6), np.nan), "must hold finite numbers; row 0"),
        (np.full((2, 6), 1e300), "float32"),
    ],
)
def test_what_a_code_cannot_hold_is_refused(ask, X, message):
    with pytest.raises(ValueError, match=message):
        ask(Machine().fit(NEGATIVES), X)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda e: e.transform(IMAGES[:, :4]), "X has 4 features, but KernelSquareLossExemplar is expecting 6"),
        (lambda e: e.classifier(IMAGES[0, :4]), r"x must have 6 numbers, or rows of them; got shape \(4,\)"),
        (lambda e: e.classifier(IMAGES), r"x must be one image of 6 numbers; got shape \(9, 6\)"),
        (lambda e: e.similarity(IMAGES, IMAGES), r"C must have shape \(n, 86\), as transform returns it; got \(9, 6\)"),
        (
            lambda e: e.similarity(e.background_, e.background_, (1, 2, 3)),
            "values must be None unless kernel='precomputed'",
        ),
        (lambda e: e.classifier(IMAGES[0]).decision_function([[np.nan] * 6]), "finite numbers; row 0"),
    ],
)
def test_wrong_shapes_are_refused(ask, message):
    with pytest.raises(ValueError, match=message):
        ask(Machine().fit(NEGATIVES))


def test_values_of_other_shapes_than_the_codes_are_refused():
    encoder = Machine("precomputed").fit(np.eye(3))
    C = encoder.transform(np.eye(3)[:2])
    message = r"values must be three arrays of shapes \(2, 2\), \(2,\) and \(2,\); got \(2, 3\), \(2,\), \(2,\)"
    with pytest.raises(ValueError, match=message):
        encoder.similarity(C, C, (np.ones((2, 3)), np.ones(2), np.ones(2)))


def test_a_fit_on_other_terms_leaves_nothing_of_the_last():
    encoder = Machine("rbf").fit(NEGATIVES).set_params(kernel="precomputed").fit(NEGATIVES @ NEGATIVES.T)
    assert not hasattr(encoder, "landmarks_")
    assert encoder.transform(IMAGES @ NEGATIVES.T).shape == (9, 2 * encoder.rank_)


@pytest.mark.parametrize(
    ("kernel", "n"), [("rbf", 21), ("poly", 21), ("linear", 7), (laplacian, 7), ("precomputed", 7)]
)
def test_the_grid_of_settings_has_gamma_where_the_kernel_has(kernel, n):
    X = NEGATIVES @ NEGATIVES.T if kernel == "precomputed" else NEGATIVES
    grid = Machine(kernel).default_grid(mc.as_matrix(X))
    assert np.prod([len(values) for values in grid.values()]) == n
    assert set(grid) == ({"gamma", "regularization"} if n == 21 else {"regularization"})


@pytest.mark.parametrize("factorization", FACTORIZATIONS)
def test_a_trial_is_a_fit_with_these_settings(factorization):
    settings = [{"gamma": gamma, "regularization": r} for gamma in (0.1, 0.3) for r in (1e-4, 1e-2)]
    settings.append({"gamma": 0.3, "kernel": "poly"})
    encoder = Machine("rbf", factorization=factorization, random_state=0)
    for setting, trial in zip(settings, encoder.trials(NEGATIVES, settings), strict=True):
        fitted = clone(encoder).set_params(**setting).fit(NEGATIVES)
        np.testing.assert_allclose(compared(trial), compared(fitted), atol=1e-7)
        assert trial.background_.shape == (1, trial.n_features_out_)


def test_trials_that_differ_in_their_strength_alone_share_a_factorization(monkeypatch):
    asked = []
    monkeypatch.setattr(factorizations, "complete_cholesky", lambda gram: asked.append(1) or complete_cholesky(gram))
    settings = [{"gamma": gamma, "regularization": r} for gamma in (0.1, 0.3) for r in (1e-4, 1e-2, 1.0)]
    assert len(list(Machine().trials(NEGATIVES, settings))) == 6
    assert len(asked) == 2


def test_calibration_finds_settings_of_the_grid():
    y = np.arange(20) % 5
    rng = np.random.default_rng(3)
    X = rng.standard_normal((5, 6))[y] + 0.3 * rng.standard_normal((20, 6))
    best = calibrate(Machine("rbf", factorization="kpca", rank=8), NEGATIVES, X, y)
    assert len(best.calibration_) == 21
    row = max(best.calibration_, key=lambda row: row["mAP"])
    assert (best.gamma, best.regularization) == (row["gamma"], row["regularization"])
    assert best.kernel_["gamma"] == best.gamma


@parametrize_with_checks(
    [Machine(), Machine("poly", rank=3, factorization="incomplete_cholesky"), Machine("precomputed")]
)
def test_scikit_learn_finds_nothing_to_complain_of(estimator, check):
    check(estimator)


@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_strength_and_width_follow_the_negatives_where_nobody_says(kernel):
    X, _ = pool()
    enc = mc.KernelSquareLossExemplar(kernel, n_background=1).fit(X)
    X32 = X.astype(np.float32).astype(np.float64)
    squares = np.square(X32[:, None] - X32).sum(axis=2)
    gamma = {"linear": 1.0, "rbf": 1 / squares.mean(), "poly": 1 / np.square(X32).sum(axis=1).mean()}[kernel]
    assert enc.kernel_["gamma"] == pytest.approx(gamma)
    P = X32 @ X32.T
    K = {"linear": P, "rbf": np.exp(-gamma * squares), "poly": P + gamma * P**2}[kernel]
    H = np.eye(len(X)) - 1 / len(X)
    assert enc.regularization_ == pytest.approx(np.linalg.eigvalsh(H @ K @ H / len(X))[-1], rel=1e-6)


def test_a_linear_kernel_machine_is_the_linear_machine_where_nobody_says():
    X, Q = pool()
    ker, enc = (e.fit(X) for e in (mc.KernelSquareLossExemplar("linear"), mc.SquareLossExemplar()))
    found = ker.similarity(ker.transform(Q), ker.transform(Q))
    np.testing.assert_allclose(found, enc.similarity(enc.transform(Q), enc.transform(Q)), atol=1e-5)
