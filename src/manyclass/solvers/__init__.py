"""Minimize loss(X W, y) + penalty(W): one algorithm per file."""
