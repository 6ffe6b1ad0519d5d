"""Stochastic gradient descent for linear classifiers with very many classes (Perronnin et al., CVPR 2012).

Read `descent` first, then `one_vs_rest`. The loops over examples are compiled (native/); a plain version of each
stands in tests/solvers/twins.py.

- `objectives`: the registry of objectives by name, with what trains each
- `descent`: epochs until validation says enough, with the average of the weights
- `one_vs_rest`: a binary machine per class, with sampled negatives
- `pairwise`: Crammer and Singer's multiclass hinge, pairwise ranking and WARP
- `minibatch`: the softmax loss, a few examples at a time
- `linear_models`: the weights of all classes, and the classes of highest score
- `sampling`: steps, the order of examples, and how many negatives a class meets
- `tuning`: the step and the number of negatives, found on a sample; hold-out and accuracy
- `checkpoint`: a run in a file, from which it goes on to the same bits
"""

from manyclass._core.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(
    __name__,
    {
        "Checkpoint": "checkpoint",
        "EarlyStopping": "descent",
        "LinearWeights": "linear_models",
        "MiniBatch": "minibatch",
        "OBJECTIVES": "objectives",
        "OneVsRest": "one_vs_rest",
        "PairwiseRanking": "pairwise",
        "Schedule": "sampling",
        "SgdAlgorithm": "descent",
        "SgdRun": "descent",
        "StepTrial": "tuning",
        "StochasticObjective": "objectives",
        "run_sgd": "descent",
        "top_classes": "linear_models",
    },
)
