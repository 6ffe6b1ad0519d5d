"""scikit-learn's contract: labels in, `coef_` out.

What users fit:

- `stochastic`: StochasticClassifier, one example at a time; `_stochastic_plan` says how to train it (settings,
  objectives, schedule, stopping), `_incremental` how it goes on (warm start, `partial_fit`, `add_classes`).
- `linear_classifier`: LinearClassifier, any loss and any penalty.
- `square_loss_classifier`: SquareLossClassifier, ridge regression of every class in closed form;
  `_closed_form_updates` adds and removes rows and classes.
- `nearest_centroid`: NearestCentroid, the class whose mean is nearest.
- `trace/`: TraceNormClassifier, with weights in factors, and TraceNormPath, a grid of them.
- `heads/`: QuantizedHead, any of them in few bits for each weight, and Taxonomy, a tree above the classes.
- `shared/`: SharedStructureClassifier and MultiTaskTraceNorm, both on kernel machines.

What they share:

- `linear_model`: scores and predictions of what is fitted; `onnx_export` writes it as a graph.
- `probabilities`: what scores mean, by a link or a temperature; `prior_adjustment` moves them to another prior.
- `centers`: weights that are known before training, as users give them.
- `class_updates`: classes that come, go or get other names, without a fit.
- `multilabel/`: rows with any number of labels, and from which score on a row is of a class.
- `uncertainty/`: sets of classes and rows of none of them, by what is said of held-out rows.
- `batch`: fit, for all solvers that minimize over all rows at once.
- `validation`: labels, weights, validation sets and settings, checked.
- `callbacks`: what is called after each epoch or step, with JsonLines; `progress` shows how far a fit is.
"""

from manyclass._core.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(__name__)
