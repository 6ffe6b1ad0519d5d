"""Rows with any number of labels.

several_labels      SeveralLabels, for classifiers whose classes do not compete
thresholds          from which score on a row is of a class, and how likely it is
cross_fitted_rules  both by all rows, each scored by machines that have not seen it
"""
