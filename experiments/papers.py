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
    "Rezende et al., Kernel square-loss exemplar machines for image retrieval (CVPR 2017)": (
        Item("Table 1", "exemplar_table"),
        Item("Table 2", "exemplar_compact"),
        Item("Figure 1", "exemplar_negatives"),
        Item("Figure 2", "exemplar_rank"),
        Item("Figure 3", "exemplar_negatives"),
    ),
}
