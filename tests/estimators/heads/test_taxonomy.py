import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import manyclass as mc
from manyclass.estimators.heads.taxonomy import as_taxonomy
from tests.estimators.problems import blobs

PLANTS = {"oak": "tree", "elm": "tree", "tree": "plant", "moss": "plant", "plant": "life", "cat": "life"}
CLASSES = ["cat", "elm", "moss", "oak"]


def ancestors(parents, node):
    while node is not None:
        yield node
        node = parents.get(node)


def test_probabilities_are_summed_up_the_tree():
    tree = mc.Taxonomy(PLANTS)
    P = tree.node_probabilities(np.array([[0.1, 0.2, 0.3, 0.4]]), CLASSES)[0]
    found = dict(zip(tree.names.tolist(), P.round(6).tolist(), strict=True))
    assert found == {"life": 1.0, "plant": 0.9, "tree": 0.6, "oak": 0.4, "elm": 0.2, "moss": 0.3, "cat": 0.1}


@pytest.mark.parametrize(
    ("confidence", "name"), [(0.3, "oak"), (0.4, "oak"), (0.5, "tree"), (0.6, "tree"), (0.7, "plant"), (1, "life")]
)  # fmt: skip
def test_the_deepest_node_that_is_sure_enough_is_told(confidence, name):
    taxa = mc.Taxonomy(PLANTS).deepest(np.array([[0.1, 0.2, 0.3, 0.4]]), CLASSES, confidence)
    assert taxa.names.tolist() == [name]
    assert taxa.depths.tolist() == [{"oak": 3, "tree": 2, "plant": 1, "life": 0}[name]]


@given(
    parents=st.lists(st.integers(0, 10**6), min_size=1, max_size=40),
    confidence=st.floats(0.01, 1),
    seed=st.integers(0, 99),
)
def test_sums_and_answers_are_those_of_a_walk_from_every_class(parents, confidence, seed):
    above = {f"n{i + 1}": f"n{parent % (i + 1)}" for i, parent in enumerate(parents)}
    tree, rng = mc.Taxonomy(above), np.random.default_rng(seed)
    classes = rng.permutation(tree.names)[: rng.integers(1, len(tree) + 1)]
    P = rng.dirichlet(np.full(len(classes), 0.3), size=3)
    twin = np.zeros((3, len(tree)))
    for c, name in enumerate(classes.tolist()):
        for node in ancestors(above, name):
            twin[:, tree.names.tolist().index(node)] += P[:, c]
    np.testing.assert_allclose(tree.node_probabilities(P, classes), twin, atol=1e-12)
    depths = np.array([len(list(ancestors(above, name))) - 1 for name in tree.names.tolist()])
    np.testing.assert_array_equal(tree.depths, depths)
    taxa = tree.deepest(P, classes, confidence)
    for i in range(3):
        sure = [j for j in range(len(tree)) if twin[i, j] >= confidence - 1e-9 or j == 0]
        deepest = max(sure, key=lambda j: depths[j])
        assert taxa.depths[i] <= depths[deepest]  # a sum may round to just below
        if all(abs(twin[i] - confidence) > 1e-9):
            assert taxa.depths[i] == depths[deepest]
            rivals = [twin[i, j] for j in sure if depths[j] == depths[deepest] and j]
            assert not rivals or abs(taxa.probabilities[i] - max(rivals)) < 1e-9


def test_labels_that_are_paths_make_a_tree():
    paths = ["plant/tree/oak", "plant/tree/elm", "plant/moss", "cat"]
    taxa = mc.Taxonomy.from_paths(paths).deepest(np.array([[0.5, 0.4, 0.1, 0], [0.3, 0, 0, 0.7]]), paths, 0.8)
    assert taxa.names.tolist() == ["plant/tree", "root"]


def test_classes_that_are_numbers_are_nodes_by_their_digits():
    taxa = mc.Taxonomy({"3": "odd", 5: "odd", "odd": "all", "4": "all"}).deepest(np.array([[0.5, 0.5, 0]]), [3, 5, 4])
    assert taxa.names.tolist() == ["odd"]


def test_lineages_go_from_the_root_to_the_node():
    tree = mc.Taxonomy(PLANTS)
    names = [[str(tree.names[i]) for i in row if i >= 0] for row in tree.lineages(["oak", "cat", "life"])]
    assert names == [["life", "plant", "tree", "oak"], ["life", "cat"], ["life"]]


@pytest.fixture(scope="module")
def fitted():
    X, y = blobs(k=4, per_class=40, spread=0.6)
    return mc.LinearClassifier(penalty=mc.Ridge(1e-2)).fit(X, np.array(CLASSES)[y]), X


def test_classifiers_answer_by_a_tree(fitted):
    clf, X = fitted
    tree = mc.Taxonomy(PLANTS)
    mine = clf.predict_taxon(X, PLANTS, confidence=0.9)
    plain = tree.deepest(clf.predict_proba(X), clf.classes_, 0.9)
    for one, other in zip(mine, plain, strict=True):
        np.testing.assert_array_equal(one, other)
    head = clf.compress(16).predict_taxon(X, tree, confidence=0.9)
    assert np.mean(head.names == plain.names) > 0.98


def test_a_classifier_of_scikit_learn_answers_by_a_tree(fitted):
    from sklearn.linear_model import LogisticRegression

    clf, X = fitted
    plain = LogisticRegression().fit(X, clf.predict(X))
    taxa = mc.Taxonomy(PLANTS).predict(plain, X, 0.8)
    assert taxa.names.shape == (len(X),)
    assert (taxa.probabilities >= 0.8).all()


def test_blocks_of_rows_change_nothing(fitted, monkeypatch):
    clf, X = fitted
    whole = clf.predict_taxon(X, PLANTS)
    monkeypatch.setattr("manyclass.estimators.heads.taxonomy._NUMBERS", 50)
    for one, other in zip(whole, clf.predict_taxon(X, PLANTS), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    ("parents", "message"),
    [
        ({"a": "b", "b": "a"}, "must have a root; got a ring"),
        ({"a": "b", "b": "a", "c": "d"}, "must be a tree; 'a' is above itself"),
        ({"a": "a", "c": "d"}, "must be a tree; 'a' is above itself"),
        ({"a": "b", "c": "d"}, "must have one root; got 2 nodes without a parent, such as 'b', 'd'"),
        ({}, "must have nodes"),
    ],
)
def test_what_is_no_tree_is_refused(parents, message):
    with pytest.raises(ValueError, match=message):
        mc.Taxonomy(parents)


def test_several_roots_may_hang_below_a_name():
    tree = mc.Taxonomy({"a": "b", "c": "d", "e": None}, root="all")
    assert tree.names[0] == "all"
    assert sorted(tree.names[tree.depths == 1].tolist()) == ["b", "d", "e"]
    assert "6 nodes below 'all'" in repr(tree)


@pytest.mark.parametrize("confidence", [0, 1.1, -1, "much", np.nan])
def test_a_confidence_is_a_probability(confidence):
    with pytest.raises(ValueError, match="confidence must be a number above 0 and at most 1"):
        mc.Taxonomy(PLANTS).deepest(np.full((1, 4), 0.25), CLASSES, confidence)


def test_classes_that_the_tree_does_not_have_are_named():
    with pytest.raises(ValueError, match="it has no 'dog' and 1 more"):
        mc.Taxonomy(PLANTS).deepest(np.full((1, 3), 0.25), ["cat", "dog", "cow"])
    with pytest.raises(ValueError, match="two of them are the same node"):
        mc.Taxonomy(PLANTS).deepest(np.full((1, 2), 0.5), ["cat", "cat"])
    with pytest.raises(ValueError, match="P must have a column per class"):
        mc.Taxonomy(PLANTS).deepest(np.full((1, 3), 0.5), CLASSES)


def test_a_classifier_without_probabilities_is_refused(fitted):
    from sklearn.svm import LinearSVC

    clf, X = fitted
    with pytest.raises(ValueError, match="needs probabilities"):
        mc.Taxonomy(PLANTS).predict(LinearSVC().fit(X, clf.predict(X)), X)


def test_trees_come_in_several_forms(tmp_path):
    (tmp_path / "tree.csv").write_text("child,parent\n" + "".join(f"{c},{p}\n" for c, p in PLANTS.items()))
    tree = mc.Taxonomy(PLANTS)
    for form in (tree, PLANTS, tmp_path / "tree.csv", str(tmp_path / "tree.csv")):
        assert as_taxonomy(form).names.tolist() == tree.names.tolist()
    assert as_taxonomy(["a/b", "a/c"]).names.tolist() == ["root", "a", "a/b", "a/c"]
    with pytest.raises(ValueError, match="taxonomy must be"):
        as_taxonomy(7)


def test_a_label_is_not_taken_for_the_root_above_all():
    with pytest.raises(ValueError, match="root must be a name that no label begins with"):
        mc.Taxonomy.from_paths(["root", "plant/oak"])
    assert mc.Taxonomy.from_paths(["root/oak", "root/elm"]).names.tolist() == ["root", "root/oak", "root/elm"]
