"""Run the named experiments, or all of them: `python -m experiments [NAME ...] [--data FOLDER]`.

FOLDER, or the environment variable MANYCLASS_DATA, holds the data that users have; what is not there is left out.
The page over all of them, docs/results/index.md, is written each time; `python -m experiments index` does nothing else.
"""

import argparse
import os
from importlib import import_module
from pathlib import Path

from experiments.index import write_index

ALL = (
    "objectives",
    "beta",
    "regularization",
    "dimension",
    "rebalancing",
    "averaging",
    "batch",
    "stochastic_atoms",
    "compressed",
    "few_examples",
    "trace_classes",
    "trace_codes",
    "trace_map",
    "trace_size",
    "shared_smoothing",
    "shared_synthetic",
    "shared_letters",
    "shared_class_size",
    "shared_mammals",
    "shared_wombat",
    "shared_new_class",
    "exemplar_table",
    "exemplar_compact",
    "exemplar_negatives",
    "exemplar_rank",
    "caltech_pixels",
    "caltech_settings",
    "tiny_pixels",
    "dvd_pixels",
    "search_defaults",
    "train_defaults",
    "strangers",
    "own_background",
    "better_rankings",
    "long_tail",
    "few_shot",
    "add_a_class",
    "probe_peers",
    "prediction_sets",
    "unknowns",
    "labeling",
    "relevance_feedback",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(ALL))
    parser.add_argument("--data", default=os.environ.get("MANYCLASS_DATA"), help="folder of data sets")
    parser.add_argument("--results", default="docs/results", type=Path, help="folder to write to")
    given = parser.parse_args()
    for name in [] if given.names == ["index"] else given.names or ALL:
        if name not in ALL:
            parser.error(f"experiments are {', '.join(ALL)}; got {name!r}")
        folder = Path(given.data) if given.data else None
        for path in import_module(f"experiments.{name}").run(folder).write(given.results):
            print(path)
    print(write_index(given.results))


if __name__ == "__main__":
    main()
