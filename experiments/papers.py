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
        Item("Section 3, subspace", why="machines have not been learned again in one; trace_classes cuts W instead"),
        Item("Section 3, ridge", why="is said to help the largest features, without numbers; it has not been run"),
        Item("Section 4.2, operations", why="counts them; nothing is measured"),
        Item("Section 4.2, time", "trace_size"),
        Item("Figure 2, top", "trace_classes"),
        Item("Figure 2, bottom", "trace_classes"),
        Item("Section 5, Deng et al.", why="has accuracies on ImageNet's fungi, ungulates and vehicles, not at hand"),
        Item("Figure 3", "trace_codes"),
        Item("Figure 3, 65,536 numbers", why="could be had with 256 Gaussians; it has not been run"),
    ),
    "Perronnin et al., Towards good practice in large-scale learning for image classification (CVPR 2012)": (
        Item("Abstract, ranking against one-vs-rest", "objectives"),
        Item("Table 1", why="holds the update equations, which tests compare with plain loops; nothing is measured"),
        Item(
            "Section 4.1, bounded norm", why="gives results like those of a ridge, without numbers; not in the library"
        ),
        Item("Section 4.2, t0", "regularization"),
        Item(
            "Section 4.2, reweighting",
            why="that sampling converges faster than weights has no numbers; how both end is on the page rebalancing",
        ),
        Item("Section 4.3", why="has no numbers; batch solvers are raced for the slides of 2013, below"),
        Item("Figure 1", "beta"),
        Item("Section 5.2, rebalancing", "rebalancing"),
        Item("Figure 2", "regularization"),
        Item(
            "Section 5.2, other betas and objectives",
            why="regularize alike without numbers, and curves are alike at top-5; here beta 1 at top-1 alone was run",
        ),
        Item("Section 5.2, VOC 2007", why="the pictures are not at hand, and have several labels each"),
        Item("Table 2", "objectives"),
        Item("Figure 3", "dimension"),
        Item("Table 3", "objectives"),
        Item(
            "Table 3, Fisher vectors",
            why="w-OVR is ahead of WAR by 1.2 with 10,184 classes, not at hand; with 1,000 WAR is ahead by 0.4",
        ),
        Item("Section 5.3", "beta"),
        Item(
            "Section 5.3, from 16.7 to 19.1 %",
            why="beta gains so much on large Fisher vectors of 10,184 classes, not at hand; of some 100, see Figure 1",
        ),
        Item("Section 5.3, timings", why="are of 10,184 classes, not at hand, in days of the processors of a cluster"),
        Item(
            "Figure 4",
            why="shows pictures of the best and the worst classes, as every report does; nothing is measured",
        ),
    ),
    "Rezende et al., Kernel square-loss exemplar machines for image retrieval (CVPR 2017)": (
        Item(
            "Section 5.2, time",
            why="that kernel PCA is slower than incomplete Cholesky at small ranks and faster at high has no numbers",
        ),
        Item("Table 1", "exemplar_table"),
        Item(
            "Table 1, AlexNet and NetVLAD",
            why="these networks are not at hand; another takes the place of SPoC's alone",
        ),
        Item("Table 1, Oxford 105k", why="the photographs are not at hand; no search here has distractors"),
        Item("Table 2", "exemplar_compact"),
        Item("Table 2, the state of the art", why="compares with descriptors of others, which are not at hand"),
        Item("Table 2, 4,096 numbers", why="is of NetVLAD, which is not at hand"),
        Item("Figure 1", "exemplar_negatives"),
        Item("Figure 2", "exemplar_rank"),
        Item(
            "Section 6.5, rank 200",
            why="gives around 84 % where full rank gives 86.3; here ranks are 8, 32 and 128, beside full rank",
        ),
        Item("Section 6.5, residuals", why="are of SPoC on Holidays, not at hand; ours are on the page exemplar_rank"),
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
