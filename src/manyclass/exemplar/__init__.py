"""One positive against a world of negatives: every image a class of its own.

- `encoder`: Encoder, from negatives to embeddings, and the leave-one-out correction of what it was fitted on;
  `linear_encoder` are those that are one product away.
- `square_loss`: SquareLossExemplar, `lda`: ExemplarLDA, and `whitened_pca`: WhitenedPCA, in closed form.
- `svm`: ExemplarSVM, with `_svm_solvers`.
- `kernel_square_loss`: KernelSquareLossExemplar, on a `gram` matrix, its `factorizations`, and `_kernel_embeddings`.
- `relevance_feedback`: RelevanceFeedback, one machine of images that are marked as wanted and unwanted.
- `calibration`: `calibrate`, which chooses the parameters of an encoder.
"""

from manyclass._core.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(
    __name__, {"Encoder": "encoder", "FeedbackQuery": "relevance_feedback", "calibrate": "calibration"}
)
