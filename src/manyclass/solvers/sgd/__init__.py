"""Stochastic gradient descent for linear classifiers with very many classes (Perronnin et al., CVPR 2012).

Read `descent` first, then `one_vs_rest`. The loops over examples are compiled (native/); a plain version of each
stands in tests/solvers/twins.py.

- `objectives`: the registry of objectives by name, with what trains each
- `linear_weights`: the machines of all classes, or of a range of them
- `descent`: epochs until validation says enough
- `judging`: which rows are given their own class, by machines of all classes or by ranges of them, to the same bits
- `ranking_jury`: how machines rank rows that have several classes
- `class_ranges`: the weights of a descent with workers, a range of the classes each
- `one_vs_rest`: a binary machine per class, with sampled negatives
- `pairwise`: Crammer and Singer's multiclass hinge, pairwise ranking and WARP
- `minibatch`: the softmax loss, a few examples at a time
- `sampling`: steps, the order of examples, and how many negatives a class meets
- `tuning`: the plan of a run; the objective, the step and the number of negatives, found on a sample
- `subsets`: some of the examples, held out or drawn
- `checkpoint`: a run in a file, from which it goes on to the same bits
- `saved_weights`: the weights of a run in its file, or in parts beside it
- `top_k`: the classes of highest score

What a descent is made of (weights, schedules, loops) is `StochasticClassifier`'s own, and not exported.
"""

from manyclass._core.lazy import lazy_exports

__getattr__, __dir__, __all__ = lazy_exports(
    __name__,
    {
        "Checkpoint": "checkpoint",
        "EarlyStopping": "descent",
        "OBJECTIVES": "objectives",
        "SgdPlan": "tuning",
        "StochasticObjective": "objectives",
        "top_classes": "top_k",
    },
)
