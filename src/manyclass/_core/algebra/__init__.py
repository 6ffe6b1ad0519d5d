"""Linear algebra that several folders need.

linalg    aligned arrays, rows of unit length, signed roots, power iteration
singular  singular values and vectors: all, the largest, those above a threshold; their signs
"""
