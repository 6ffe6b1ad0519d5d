"""Run the named benchmarks, or all of them, and write their pages to docs/benchmarks/.

Sizes are those of the pages, and all of them take some hours; `python -m benchmarks classification n=5000 d=256 k=100`
gives another one. The page over all of them, docs/benchmarks/index.md, is written each time;
`python -m benchmarks index` does nothing else.
"""

import sys
from importlib import import_module
from pathlib import Path

from benchmarks.summary import write_summary

FOLDER = Path("docs/benchmarks")
ALL = (
    "products",
    "encoding",
    "classification",
    "closed_form",
    "multilabel",
    "wide",
    "imagenet_shape",
    "ten_thousand",
    "heads",
    "trace_norm",
    "softmax",
    "path",
    "exemplar",
    "kernel_exemplar",
    "search",
    "ten_million",
    "features",
    "feature_folder",
    "large_files",
    "scaling",
    "audit",
    "page_speed",
    "startup",
)


def main(words: list[str]) -> None:
    settings = dict(_setting(word) for word in words if "=" in word)
    names = [word for word in words if "=" not in word] or list(ALL)
    names = [] if names == ["index"] else names
    for name in names:
        if name not in ALL:
            raise SystemExit(f"benchmarks are {', '.join(ALL)}; got {name!r}")
    if settings and len(names) != 1:
        raise SystemExit(f"sizes go with one benchmark at a time; got {', '.join(names)}")
    left_out = [why for name in names if (why := measured(name, settings))]
    print(write_summary(FOLDER))
    if left_out:
        raise SystemExit("\n".join(left_out))


def measured(name: str, settings: dict[str, int | str]) -> str:
    """Run one and write its page; why it cannot be run here, or nothing."""
    try:
        page = import_module(f"benchmarks.{name}").run(**settings)
    except SystemExit as why:
        return f"{name} was left out: {why}"
    print(page.write(FOLDER))
    return ""


def _setting(word: str) -> tuple[str, int | str]:
    name, value = word.split("=", 1)
    return name, int(value) if value.isdigit() else value


if __name__ == "__main__":
    main(sys.argv[1:])
