"""scikit-learn's contract: labels in, `coef_` out.

What users fit:

- `stochastic`: StochasticClassifier, one example at a time; `_stochastic_plan` says how to train it (settings,
  objectives, schedule, stopping), `_incremental` how it goes on (warm start, `partial_fit`, `add_classes`).
- `linear_classifier`: LinearClassifier, any loss and any penalty.
- `square_loss_classifier`: SquareLossClassifier, ridge regression of every class in closed form.
- `trace_norm`: TraceNormClassifier, with weights in factors.
- `trace_path`: TraceNormPath, a grid of them; `path_grid` has the grid and the way along it, `_path_plots` drawings.
- `shared_structure`: SharedStructureClassifier, and `multi_task`: MultiTaskTraceNorm, both on `kernel_machines`.

What they share:

- `linear_model`: scores, predictions and probabilities of what is fitted; `onnx_export` writes it as a graph.
- `batch`: fit, for all solvers that minimize over all rows at once.
- `validation`: labels, weights, validation sets and settings, checked.
- `callbacks`: what is called after each epoch or step, with JsonLines; `progress` shows how far a fit is.
"""

from manyclass._core.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(__name__)
