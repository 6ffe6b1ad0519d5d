"""The tables and figures of the papers, and the page on which each is repeated, or why it is not."""

from typing import NamedTuple


class Item(NamedTuple):
    """A table or figure by its number, and its page; without one, why it cannot be had."""

    number: str
    page: str = ""
    why: str = ""


PAPERS: dict[str, tuple[Item, ...]] = {
    "Harchaoui et al., Large-scale image classification with trace-norm regularization (CVPR 2012)": (
        Item("Figure 1", "trace_classes"),
        Item("Figure 2, top", "trace_classes"),
        Item("Figure 2, bottom", "trace_classes"),
        Item("Figure 3", "trace_classes"),
    ),
    "Perronnin et al., Towards good practice in large-scale learning for image classification (CVPR 2012)": (
        Item("Table 1", why="holds the update equations, which tests compare with plain loops; nothing is measured"),
        Item("Table 1, last iterate", "averaging"),
        Item("Section 4.2, t0", "regularization"),
        Item("Section 4.3", why="has no numbers; batch solvers are raced for the slides of 2013, below"),
        Item("Figure 1", "beta"),
        Item("Section 5.2, rebalancing", "rebalancing"),
        Item("Figure 2", "regularization"),
        Item("Section 5.2, VOC 2007", why="the pictures are not at hand, and have several labels each"),
        Item("Table 2", "objectives"),
        Item("Figure 3", "dimension"),
        Item("Table 3", "objectives"),
        Item("Section 5.3", "beta"),
        Item(
            "Figure 4",
            why="shows pictures of the best and the worst classes, as every report does; nothing is measured",
        ),
    ),
    "Rezende et al., Kernel square-loss exemplar machines for image retrieval (CVPR 2017)": (
        Item("Table 1", "exemplar_table"),
        Item("Table 2", "exemplar_compact"),
        Item("Figure 1", "exemplar_negatives"),
        Item("Figure 2", "exemplar_rank"),
        Item("Figure 3", "exemplar_negatives"),
    ),
    "Harchaoui, Large-scale learning by decomposition (slides, 2013)": (
        Item("Time of w-OVR, LibSVM against SGD", "batch"),
        Item("Time of MUL, SVM-light against SGD", "batch"),
        Item("Stochastic atom descent", "stochastic_atoms"),
        Item("Table of updates", why="as Table 1 of Perronnin et al.: update equations; nothing is measured"),
        Item("Table of datasets", why="lists the sizes of data sets that are not at hand; nothing is measured"),
        Item(
            "w-OVR against u-OVR on Fungus",
            why="as Figure 1 of Perronnin et al., there on ILSVRC 2010, which is repeated; the fungi are not at hand",
        ),
        Item(
            "Objectives against Gaussians",
            why="as Figure 3 of Perronnin et al., there on other data, which is repeated; the slide's three sets are "
            "not at hand",
        ),
        Item(
            "Loss of 0.9 % by compression on ten Vehicles",
            why="as Figure 3 of Harchaoui et al., which is repeated on other pictures; the vehicles are not at hand",
        ),
        Item(
            "Accuracy of OVR and TR",
            why="the figure is lost in the text at hand; Figure 2 of Harchaoui et al. compares the same two, and is "
            "repeated",
        ),
        Item(
            "L2-Multiclass",
            why="a formula beside that figure; softmax with a ridge, which is the same, stands beside the trace norm "
            "where Figure 2 of Harchaoui et al. is repeated",
        ),
        Item(
            "A posteriori low-dimensional embedding",
            why="a picture, which is lost in the text at hand; nothing is measured",
        ),
    ),
    "Amit et al., Uncovering shared structures in multiclass classification (ICML 2007)": (
        Item("Figure 1", "shared_smoothing"),
        Item("Figure 2, left", "shared_smoothing"),
        Item("Figure 2, right", "shared_smoothing"),
        Item("Section 4, new classes", "shared_new_class"),
        Item("Section 6, sigmoidal", "shared_synthetic"),
        Item("Section 6, harmonic", "shared_synthetic"),
        Item("Section 6, truncation", "shared_synthetic"),
        Item("Figure 3, left", "shared_synthetic"),
        Item("Section 7.1", "shared_letters"),
        Item("Section 7.2", "shared_mammals"),
        Item("Figure 3, right", "shared_mammals"),
        Item("Figure 4", why="shows pictures of the paper's mammals, which are not at hand; nothing is measured"),
        Item("Figure 5", "shared_mammals"),
        Item("Figure 5", "shared_class_size"),
        Item(
            "Figure 5, classes that gain from Frobenius",
            why="a class has ten test pictures or fewer, too few to tell which norm it gains from",
        ),
        Item("Section 7.2, wombat", "shared_wombat"),
        Item(
            "Section 7.2, false alarms of the wombat",
            why="not measured; the page on the wombat has the accuracy on other classes",
        ),
    ),
}
