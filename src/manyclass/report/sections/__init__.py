"""Sections of the page. Each is a function of the report: a Section, or None if there is nothing to show.

    next_steps             what the numbers say, and what to try next
    setup                  what was done, and with what
    comparison             runs side by side, their costs, and the head of the page
    label_scores           F1, average precision and precision at k, where rows have several labels
    classes                accuracy by class, confused pairs, the best and the worst with images
    rare_classes           accuracy of classes of many, medium and few examples, also with other priors
    reliability_diagram    what classifiers say of themselves, and sets of classes
    learning_curves        accuracy and objective while learning, and against settings that were tuned
    weights                spectrum, trace-norm grid, classes in two dimensions
    search_results         image search
    probe                  how good embeddings are, by several classifiers
    audit_findings         what is wrong with the data: labels, duplicates, outliers, classes

A new section is a function in one of these files or in a new one, and a line of `SECTIONS`.
"""

from manyclass._core.lazy import lazy_exports

SECTIONS = {  # the files of all sections, in the order of the page
    "show_next_steps": "next_steps",
    "show_setup": "setup",
    "compare_runs": "comparison",
    "show_several_labels": "label_scores",
    "show_accuracy": "classes",
    "show_class_sizes": "rare_classes",
    "show_confusions": "classes",
    "show_examples": "classes",
    "show_calibration": "reliability_diagram",
    "show_learning_curves": "learning_curves",
    "show_tuning": "learning_curves",
    "show_spectrum": "weights",
    "show_path_grid": "weights",
    "show_embedding": "weights",
    "show_search": "search_results",
    "show_probe": "probe",
    "show_audits": "audit_findings",
    "show_costs": "comparison",
}

__getattr__, __dir__, __all__ = lazy_exports(__name__, SECTIONS)
