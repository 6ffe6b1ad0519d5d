"""Small pools of negatives and images, and encoders of every kind that are quick to fit."""

import numpy as np

import manyclass as mc

LINEAR = {
    "square": lambda: mc.SquareLossExemplar(random_state=0),
    "lda": lambda: mc.ExemplarLDA(random_state=0),
    "whitening": lambda: mc.WhitenedPCA(random_state=0),
}
TRAINED = {
    "sgd": lambda: mc.ExemplarSVM(0.1, n_steps=300, n_background=8, random_state=0),
    "exact": lambda: mc.ExemplarSVM(10.0, solver="exact", n_background=8, random_state=0),
}
ENCODERS = {**LINEAR, **TRAINED}
DISCRIMINATIVE = {name: make for name, make in ENCODERS.items() if name != "whitening"}


def pool(n=60, d=7, seed=0, dtype=np.float64):
    """(negatives (n, d), images (9, d)) with correlated columns and a mean that is not zero."""
    rng = np.random.default_rng(seed)
    mix = rng.normal(size=(d, d))
    return (rng.normal(size=(n, d)) @ mix + 0.5).astype(dtype), (rng.normal(size=(9, d)) @ mix).astype(dtype)


def unit(Z):
    return Z / np.linalg.norm(Z, axis=1, keepdims=True)


def hinge_objective(w, bias, x, negatives, regularization, theta):
    """theta max(0, 1 - f(x)) + 1/n sum_i max(0, 1 + f(x_i)) + lambda/2 |w|^2, as it is written."""
    lost = np.maximum(0, 1 + negatives @ w + bias).mean()
    return theta * max(0, 1 - (w @ x + bias)) + lost + regularization / 2 * w @ w
