"""Small problems with classes of their own place."""

import numpy as np


def blobs(k=6, per_class=12, d=8, spread=0.3, seed=0):
    """(X float32, y) of k classes around points of about unit length; with little spread they can be separated."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat(np.arange(k), per_class))
    means = rng.normal(size=(k, d)) / np.sqrt(d)
    return (means[y] + spread / np.sqrt(d) * rng.normal(size=(len(y), d))).astype(np.float32), y
