"""scikit-learn's contract: labels in, `coef_` out."""
