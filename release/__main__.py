"""`python -m release`: build, check, try and measure the files of a release, or one of these alone."""

import argparse
import sys
from pathlib import Path

from release.build import build_release
from release.contents import faults_of, release_version
from release.cost import as_table, install_cost
from release.interpreters import as_interpreters, find_interpreters, makers, runs_here
from release.trial import try_wheel

STEPS = ("build", "check", "try", "cost")


def main() -> int:
    """0 if every step did, 1 if a file has a fault."""
    parser = argparse.ArgumentParser(prog="python -m release", description=__doc__)
    parser.add_argument("steps", nargs="*", metavar="STEP", help="build, check, try or cost; without one, all of them")
    parser.add_argument("--dist", type=Path, default=Path("dist"), help="the folder of the files")
    parser.add_argument("--python", action="append", help="a Python to build and try with, again for another")
    parser.add_argument("--demo", action="store_true", help="try `manyclass demo` as well, which takes minutes")
    asked = parser.parse_args()
    steps = asked.steps or list(STEPS)
    if unknown := set(steps) - set(STEPS):
        parser.error(f"STEP must be one of {', '.join(STEPS)}; got {', '.join(sorted(unknown))}")
    version, dist = release_version(), asked.dist.resolve()
    pythons = as_interpreters(asked.python) if asked.python else find_interpreters()
    print(f"manyclass {version}; Pythons {', '.join(str(one.path) for one in pythons) or 'none'}")

    if "build" in steps:
        build_release(makers(pythons), dist)
    files = sorted([*dist.glob("manyclass-*.tar.gz"), *dist.glob("manyclass-*.whl")])
    wheels = [path for path in files if path.suffix == ".whl" and runs_here(path)]
    pairs = [(wheel, python) for wheel in wheels for python in pythons if python.takes(wheel)]
    if not files or ({"try", "cost"} & set(steps) and not pairs):
        parser.error(f"{dist} must hold a wheel for a Python that is here; make it by `python -m release build`")
    if "check" in steps:
        faults = [f"{path.name}: {fault}" for path in files for fault in faults_of(path)]
        print(*(f"{path.name}  {path.stat().st_size:,} bytes" for path in files), *faults, sep="\n")
        if faults:
            return 1
    if "try" in steps:
        for wheel, python in pairs:
            try_wheel(wheel, python, version, asked.demo and (wheel, python) == pairs[0])
    if "cost" in steps:
        wheel, python = pairs[0]
        compared = {"manyclass": wheel, "scikit-learn alone": "scikit-learn"}
        print(as_table([install_cost(name, what, python) for name, what in compared.items()]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
