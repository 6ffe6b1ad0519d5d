"""Run the named benchmarks, or all of them, and write their pages to docs/benchmarks/.

`python -m benchmarks classification n=50000 d=1024 k=1000` gives the benchmark before them its sizes.
"""

import sys
from importlib import import_module
from pathlib import Path

ALL = (
    "products",
    "encoding",
    "classification",
    "imagenet_shape",
    "trace_norm",
    "path",
    "exemplar",
    "kernel_exemplar",
    "search",
    "features",
)


def main(words: list[str]) -> None:
    settings = dict(_setting(word) for word in words if "=" in word)
    names = [word for word in words if "=" not in word] or list(ALL)
    for name in names:
        if name not in ALL:
            raise SystemExit(f"benchmarks are {', '.join(ALL)}; got {name!r}")
    if settings and len(names) != 1:
        raise SystemExit(f"sizes go with one benchmark at a time; got {', '.join(names)}")
    for name in names:
        page = import_module(f"benchmarks.{name}").run(**settings)
        print(page.write(Path("docs/benchmarks")))


def _setting(word: str) -> tuple[str, int | str]:
    name, value = word.split("=", 1)
    return name, int(value) if value.isdigit() else value


if __name__ == "__main__":
    main(sys.argv[1:])
