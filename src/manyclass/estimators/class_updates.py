"""Classes that go or get other names, in every linear classifier: machines are left out, and put in order."""

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from manyclass._core.models import rollback_on_error
from manyclass.estimators.validation import check_labels, encode_known_labels

_PER_CLASS = ("coef_", "intercept_", "steps_")  # fitted arrays with a row for every class

_OF_ALL_CLASSES = ("objective_", "gap_")  # what a solver said of all machines together


class ClassUpdates:
    """`remove_classes` and `rename_classes` of a linear classifier."""

    classes_: NDArray[Any]

    @rollback_on_error
    def remove_classes(self, labels: Any) -> Self:
        """Remove the machines of some classes; those of all others stay the same to the bit.

        Of one-vs-rest, that is what a fit without these classes would mean, up to the negatives that they were.
        Probabilities of the others become those given that it is none of the removed, at the temperature that there is.

        Parameters
        ----------
        labels : label or array-like of labels
            The classes to remove; two at least must stay.

        Returns
        -------
        object
            The classifier itself.

        Examples
        --------
        >>> import manyclass as mc
        >>> clf = mc.StochasticClassifier(random_state=0).fit(np.eye(9), np.repeat(["ant", "bee", "cat"], 3))
        >>> clf.remove_classes("bee").classes_.tolist(), clf.coef_.shape
        (['ant', 'cat'], (2, 9))
        """
        check_is_fitted(self)
        given = np.atleast_1d(np.asarray(labels))
        gone = encode_known_labels(given, self.classes_, len(given))
        kept = np.setdiff1d(np.arange(len(self.classes_)), gone)
        if len(kept) < 2:
            raise ValueError(f"remove_classes must leave two classes; got {len(kept)} that stay")
        self._set_classes(self.classes_[kept], kept)
        for name in _OF_ALL_CLASSES:
            self.__dict__.pop(name, None)
        return self

    @rollback_on_error
    def rename_classes(self, names: Mapping[Any, Any]) -> Self:
        """Give classes other names; machines, scores and probabilities stay, in the order of the new names.

        Parameters
        ----------
        names : dict
            The new label of every class that gets one, by its old label. Where all classes get one, they may be of
            another kind: text in place of numbers.

        Returns
        -------
        object
            The classifier itself.

        Examples
        --------
        >>> import manyclass as mc
        >>> clf = mc.StochasticClassifier(random_state=0).fit(np.eye(9), np.repeat(["ant", "bee", "cat"], 3))
        >>> clf.rename_classes({"ant": "wasp"}).classes_.tolist(), clf.predict(np.eye(9)[:1]).tolist()
        (['bee', 'cat', 'wasp'], ['wasp'])
        """
        check_is_fitted(self)
        labels = renamed_labels(self.classes_, names)
        order = np.argsort(labels, kind="stable")
        weights = getattr(self, "class_weight", None)
        if isinstance(weights, dict):
            self.class_weight = {names.get(label, label): weight for label, weight in weights.items()}
        self._set_classes(labels[order], order)
        return self

    def _set_classes(self, classes: NDArray[Any], places: NDArray[np.intp]) -> None:
        """Let these be the classes, with the machines that are in these places now."""
        self._select_machines(places)
        self.classes_ = classes
        self.__dict__.pop("_running", None)  # of partial_fit, which goes on from the machines
        weights = getattr(self, "class_weight", None)
        if isinstance(weights, dict):
            known = set(classes.tolist())
            self.class_weight = {label: weight for label, weight in weights.items() if label in known}

    def _select_machines(self, places: NDArray[np.intp]) -> None:
        """Keep the machines in these places, in this order."""
        for name in _PER_CLASS:
            if name in vars(self):
                setattr(self, name, np.ascontiguousarray(getattr(self, name)[places]))


def renamed_labels(classes: NDArray[Any], names: Mapping[Any, Any]) -> NDArray[Any]:
    """The labels in the places of the classes, of which each has its own.

    >>> renamed_labels(np.array(["a", "b"]), {"b": "long"}).tolist()
    ['a', 'long']
    """
    if not isinstance(names, Mapping) or not names:
        raise ValueError(f"rename_classes needs a dictionary of old and new labels; got {names!r}")
    before = classes.tolist()
    for label in [label for label in names if label not in set(before)][:1]:
        raise ValueError(f"rename_classes needs labels among the {len(before)} classes; got {label!r}")
    after = [names.get(label, label) for label in before]
    kinds = {type(label) if isinstance(label, str | bytes) else int for label in after}
    if len(kinds) > 1:
        raise ValueError(
            f"rename_classes must leave labels of one kind, {classes.dtype} as they are; got others such as "
            f"{next(iter(names.values()))!r}; rename all {len(before)} classes to change it"
        )
    seen: set[Any] = set()
    for label in after:
        if label in seen:
            raise ValueError(
                f"rename_classes must leave every class a name of its own; got {label!r} for two of them; "
                "to merge classes, give their rows one label and train again"
            )
        seen.add(label)
    labels = check_labels(np.array(after, object if classes.dtype == object else None), len(after))
    if labels.dtype.kind not in "iuf" or classes.dtype.kind not in "iuf":
        return labels
    with np.errstate(invalid="ignore", over="ignore"):
        same = labels.astype(classes.dtype)
    return same if same.tolist() == after else labels
