"""How sure a classifier is, by what it says of rows that it has not seen.

- `held_out`: HeldOut, all that is kept of such rows, with the thresholds and p-values that they give.
- `prediction_sets`: `predict_set`, classes among which the right one is as often as is promised;
  `class_clusters` has classes share a threshold.
- `known_classes`: what rows of known classes look like, and how far others are from them;
  `pseudo_unknowns` decides by which distances to go, by rows whose own class is left out.
- `unknowns`: `unknown_p_values` and `predict(unknown=...)`, rows of none of the classes.
"""
