"""Run the named benchmarks, or all of them, and write their pages to docs/benchmarks/."""

import sys
from importlib import import_module
from pathlib import Path

ALL = ("products", "encoding")


def main(names: list[str]) -> None:
    for name in names or ALL:
        if name not in ALL:
            raise SystemExit(f"benchmarks are {', '.join(ALL)}; got {name!r}")
        page = import_module(f"benchmarks.{name}").run()
        print(page.write(Path("docs/benchmarks")))


if __name__ == "__main__":
    main(sys.argv[1:])
