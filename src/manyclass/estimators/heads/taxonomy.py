"""Taxonomy: a tree above the classes, up which probabilities are summed.

Nodes stand in the order in which a walk meets them, each before those below it: what is below a node is a range, and
its probability the difference of two running sums.
"""

import os
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from manyclass._core.checks import check_number
from manyclass._core.typing import Doubles, Floats
from manyclass.data.matrix import spans
from manyclass.data.readers.as_matrix import as_matrix
from manyclass.estimators.heads.taxonomy_files import parents_of_paths, read_parents

_NUMBERS = 1 << 22  # that are held at a time: 32 MB of float64

Nodes = NDArray[np.intp]


class Taxa(NamedTuple):
    """What rows are, as far as it is sure.

    Attributes
    ----------
    names : ndarray of str of shape (n,)
        The deepest node of the tree that is sure enough.
    probabilities : ndarray of shape (n,)
        How sure it is.
    depths : ndarray of int of shape (n,)
        How far it is below the root, which has depth 0.
    """

    names: NDArray[Any]
    probabilities: Doubles
    depths: Nodes


class Taxonomy:
    """A tree whose nodes are classes and what classes are kinds of.

    Names are text; a class whose label is the number 7 is the node "7".

    Parameters
    ----------
    parents : mapping of str to str
        The parent of every node but the root, which is the one that has none: {"oak": "tree", "tree": "plant"}.
    root : str, default=None
        A node to put above those that have no parent, where there are several; None if there is one.

    Attributes
    ----------
    names : ndarray of str of shape (m,)
        All nodes, each before those below it.
    parents : ndarray of int of shape (m,)
        The number of the parent of each; -1 for the root.
    depths : ndarray of int of shape (m,)
        Steps from the root.

    Examples
    --------
    >>> tree = Taxonomy({"oak": "tree", "elm": "tree", "tree": "plant", "moss": "plant"})
    >>> taxa = tree.deepest(np.array([[0.5, 0.4, 0.1]]), ["oak", "elm", "moss"], confidence=0.8)
    >>> taxa.names.tolist(), taxa.probabilities.round(2).tolist()
    (['tree'], [0.9])
    """

    def __init__(self, parents: Mapping[Any, Any], root: str | None = None):
        above = {str(child): str(parent) for child, parent in parents.items() if _is_named(parent)}
        alone = [str(child) for child, parent in parents.items() if not _is_named(parent)]
        tops = dict.fromkeys([*(parent for parent in above.values() if parent not in above), *alone])
        if root is not None:
            above |= dict.fromkeys((top for top in tops if top != root), root)
        elif len(tops) > 1:
            some = ", ".join(map(repr, list(tops)[:3]))
            raise ValueError(
                f"a taxonomy must have one root; got {len(tops):,} nodes without a parent, such as {some}; give "
                "them a parent, or name one with root="
            )
        names, parents_, depths = _walk(above, root if root is not None else next(iter(tops), None))
        self.names, self.parents, self.depths = np.array(names, str), np.array(parents_), np.array(depths)
        self._ends = _ends(self.parents)
        self._numbers = {name: i for i, name in enumerate(names)}
        self._last: tuple[Any, Nodes] = None, np.zeros(0, np.intp)

    @classmethod
    def from_paths(cls, paths: Iterable[str], separator: str = "/", root: str = "root") -> Self:
        """Make the tree of labels that are paths, such as "plant/tree/oak".

        Parameters
        ----------
        paths : iterable of str
            The labels. A node is named by the whole path to it, such as "plant/tree".
        separator : str, default="/"
            What stands between two steps.
        root : str, default="root"
            The name of the node above the first steps.

        Returns
        -------
        Taxonomy
            The tree.
        """
        parents = parents_of_paths(paths, separator)
        first = [node for node, parent in parents.items() if parent is None]
        if root in first and len(first) > 1:
            raise ValueError(f"root must be a name that no label begins with; got {root!r}; choose another")
        return cls(parents, root)

    @classmethod
    def read(cls, path: str | os.PathLike[str], root: str | None = None) -> Self:
        """Read a CSV file with the columns child and parent, and a line for every node but the root.

        Parameters
        ----------
        path : str or os.PathLike
            The file.
        root : str, default=None
            A node to put above those that have no parent, where there are several.

        Returns
        -------
        Taxonomy
            The tree.
        """
        return cls(read_parents(path), root)

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return f"Taxonomy of {len(self):,} nodes below {str(self.names[0])!r}, {self.depths.max()} deep"

    def number(self, names: Any) -> Nodes:
        """Find nodes by their names.

        Parameters
        ----------
        names : array-like of shape (n,)
            Names, or numbers that are names.

        Returns
        -------
        ndarray of int of shape (n,)
            The numbers of the nodes.
        """
        names = [str(name) for name in np.asarray(names).tolist()]
        found = np.array([self._numbers.get(name, -1) for name in names], np.intp)
        if (found < 0).any():
            strange = [name for name, number in zip(names, found, strict=True) if number < 0]
            more = f" and {len(strange) - 1:,} more" if len(strange) > 1 else ""
            raise ValueError(f"classes must be nodes of the taxonomy; it has no {strange[0]!r}{more}")
        return found

    def lineages(self, names: Any) -> Nodes:
        """List the nodes from the root to each of these.

        Parameters
        ----------
        names : array-like of str of shape (n,)
            Nodes.

        Returns
        -------
        ndarray of int of shape (n, levels)
            The numbers of the nodes above each at depth 0, 1 and so on, itself the last; then -1.
        """
        at = self.number(names)
        found = np.full((len(at), int(self.depths.max()) + 1), -1, np.intp)
        rows = np.arange(len(at))
        while (inside := at >= 0).any():
            found[rows[inside], self.depths[at[inside]]] = at[inside]
            at = np.where(inside, self.parents[at], -1)
        return found

    def node_probabilities(self, P: Floats, classes: Any) -> Doubles:
        """Sum the probabilities of classes up the tree.

        Parameters
        ----------
        P : ndarray of shape (n, k)
            The probability of every class.
        classes : array-like of shape (k,)
            Their labels.

        Returns
        -------
        ndarray of shape (n, m)
            The probability of every node: that of its own class, if it is one, and of all below it.
        """
        P = np.asarray(P)
        places = self._places(classes)
        if P.ndim != 2 or P.shape[1] != len(places):
            raise ValueError(f"P must have a column per class ({len(places)}); got shape {P.shape}")
        sums = np.zeros((len(P), len(self) + 1))
        sums[:, places + 1] = P
        np.cumsum(sums, axis=1, out=sums)
        return sums[:, self._ends] - sums[:, :-1]

    def deepest(self, P: Floats, classes: Any, confidence: float = 0.8) -> Taxa:
        """Find the deepest node whose probability is at least `confidence`, or else the root.

        Parameters
        ----------
        P : ndarray of shape (n, k)
            The probability of every class.
        classes : array-like of shape (k,)
            Their labels.
        confidence : float, default=0.8
            What is sure enough, above 0 and at most 1. Of nodes that are as deep the likeliest is taken.

        Returns
        -------
        Taxa
            Names, probabilities and depths.
        """
        check_number(confidence, "confidence", "a number above 0 and at most 1", above=0, most=1)
        found = [self._deepest(P[at], classes, confidence) for at in spans(len(P), max(1, _NUMBERS // len(self)))]
        nodes = np.concatenate([np.zeros(0, np.intp), *(one for one, _ in found)])
        return Taxa(self.names[nodes], np.concatenate([np.zeros(0), *(one for _, one in found)]), self.depths[nodes])

    def predict(self, classifier: Any, X: Any, confidence: float = 0.8) -> Taxa:
        """Find the deepest node that a classifier is sure of, for each row.

        Parameters
        ----------
        classifier : object
            Any fitted classifier with `classes_` and `predict_proba`.
        X : matrix-like of shape (n, d)
            Anything that `as_matrix` takes.
        confidence : float, default=0.8
            What is sure enough, above 0 and at most 1.

        Returns
        -------
        Taxa
            Names, probabilities and depths.
        """
        matrix, classes = as_matrix(X), classifier.classes_
        if not hasattr(classifier, "predict_proba"):
            raise ValueError(f"a taxonomy needs probabilities, which {type(classifier).__name__} has none of here")
        if getattr(classifier, "has_several_labels", False):  # whose probabilities add up to no other
            raise ValueError("a taxonomy needs one label per row; the classifier was fitted with several")
        blocks = spans(len(matrix), max(1, _NUMBERS // max(len(self), len(classes)))) or [slice(0, 0)]
        found = [self.deepest(classifier.predict_proba(matrix.rows(at)), classes, confidence) for at in blocks]
        return Taxa(*(np.concatenate(parts) for parts in zip(*found, strict=True)))

    def _deepest(self, P: Floats, classes: Any, confidence: float) -> tuple[Nodes, Doubles]:
        sums = self.node_probabilities(P, classes)
        sums[:, 0] = 1  # rounding leaves no doubt about the root
        # A probability never makes up for a step.
        heights = np.where(sums >= confidence, self.depths + sums / 2, -1)
        best = heights.argmax(axis=1)
        return best, np.take_along_axis(sums, best[:, None], axis=1)[:, 0]

    def _places(self, classes: Any) -> Nodes:
        """Where the classes are; kept for the last that were asked for, as a million take a second."""
        known, places = self._last
        if known is not classes:
            places = self.number(classes)
            if len(np.unique(places)) < len(places):
                raise ValueError("classes must differ; two of them are the same node of the taxonomy")
            self._last = classes, places
        return places


def as_taxonomy(tree: Any) -> Taxonomy:
    """A taxonomy as it is, or of a mapping of parents, the path of a CSV file, or a list of label paths."""
    if isinstance(tree, Taxonomy):
        return tree
    if isinstance(tree, Mapping):
        return Taxonomy(tree)
    if isinstance(tree, str | os.PathLike):
        return Taxonomy.read(tree)
    if isinstance(tree, Iterable):
        return Taxonomy.from_paths(tree)
    raise ValueError(f"taxonomy must be a Taxonomy, a mapping of parents, or the path of a CSV file; got {tree!r}")


def _is_named(parent: Any) -> bool:
    return parent is not None and str(parent) != ""


def _walk(above: dict[str, str], root: str | None) -> tuple[list[str], list[int], list[int]]:
    """(names, parents, depths) in the order of a walk from the root, which reaches all unless some form a ring."""
    if root is None:
        raise ValueError(f"a taxonomy must have {'a root; got a ring of parents' if above else 'nodes; got none'}")
    below: dict[str, list[str]] = {}
    for child, parent in above.items():
        below.setdefault(parent, []).append(child)
    names: list[str] = []
    parents: list[int] = []
    depths: list[int] = []
    waiting = [(root, -1, 0)]
    while waiting:
        name, parent_number, depth = waiting.pop()
        waiting += [(child, len(names), depth + 1) for child in reversed(below.get(name, ()))]
        names.append(name)
        parents.append(parent_number)
        depths.append(depth)
    if len(names) <= len(above):
        met = set(names)
        ring = next(name for name in above if name not in met)
        raise ValueError(f"a taxonomy must be a tree; {ring!r} is above itself, or below what is")
    return names, parents, depths


def _ends(parents: Nodes) -> Nodes:
    """Where the range of the nodes below each ends."""
    ends = np.arange(1, len(parents) + 1)
    for i in range(len(parents) - 1, 0, -1):
        ends[parents[i]] = max(ends[parents[i]], ends[i])
    return ends
