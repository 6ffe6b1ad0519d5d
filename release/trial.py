"""A wheel in a fresh virtual environment where no compiler can be found, used as somebody new would use it."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path

from release.interpreters import Interpreter

ROOT = Path(__file__).parents[1]
COMPILERS = ("cc", "c++", "gcc", "g++", "clang", "clang++", "cmake", "ninja", "make")
# What joblib asks for the processors, on Linux and macOS.
SYSTEM = ("lscpu", "sysctl")
FIT = """
import manyclass as mc
assert "site-packages" in mc.__file__, mc.__file__
X = mc.datasets.low_rank_classes(2000, d=64, n_classes=50, random_state=0)
codes = mc.ProductQuantizer(block=8, random_state=0).fit(X).encode(X)
clf = mc.StochasticClassifier(random_state=0).fit(codes, X.y)
print(f"{100 * clf.score(codes, X.y):.1f} % of 2,000 rows of 50 classes right, from codes")
assert clf.score(codes, X.y) > 0.8
"""


class Environment:
    """A new virtual environment with a cache of its own, and nothing on the path but its programs."""

    def __init__(self, folder: Path, python: Interpreter) -> None:
        self.folder = folder
        self.programs = folder / "bin"
        subprocess.run([python.path, "-m", "venv", folder], check=True)
        (folder / "system").mkdir()
        for found in filter(None, map(shutil.which, SYSTEM)):
            (folder / "system" / Path(found).name).symlink_to(found)
        cache = subprocess.run([self.programs / "pip", "cache", "dir"], capture_output=True, text=True).stdout.strip()
        self._variables = clean_variables(os.environ, folder) | {"PIP_CACHE_DIR": cache}

    def run(self, *command: str | Path, seconds: float = 600) -> str:
        """What a program of the environment prints; its failure is ours."""
        program, *rest = command
        print(f"  $ {program} {' '.join(str(part) for part in rest if chr(10) not in str(part))}", flush=True)
        done = subprocess.run(
            [self.programs / program, *rest], cwd=self.folder, env=self._variables, timeout=seconds,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        if done.returncode:
            raise SystemExit(f"{done.stdout}\n{program} ended with {done.returncode}")
        return done.stdout

    def install(self, *what: str | Path) -> float:
        """Install by pip, wheels alone; the seconds that it took."""
        began = time.perf_counter()
        self.run("python", "-m", "pip", "install", "--quiet", "--only-binary", ":all:", *what)
        return time.perf_counter() - began


def clean_variables(environ: Mapping[str, str], folder: Path) -> dict[str, str]:
    """Variables of an environment in `folder`: of those given only what pip needs to find packages, and no compiler."""
    kept = ("PIP_", "SSL_", "HTTP_", "HTTPS_", "NO_PROXY", "HOME", "LANG")
    variables = {name: value for name, value in environ.items() if name.upper().startswith(kept)}
    variables |= {"PATH": f"{folder / 'bin'}{os.pathsep}{folder / 'system'}", "XDG_CACHE_HOME": str(folder / "cache")}
    if found := [name for name in COMPILERS if shutil.which(name, path=variables["PATH"])]:
        raise ValueError(f"a clean environment must be without {', '.join(found)}; {variables['PATH']} has it")
    return variables


def try_wheel(wheel: Path, python: Interpreter, version: str, demo: bool) -> None:
    """Install a wheel, ask for version and help, fit, run the README's code, and with `demo` the demo."""
    print(f"{wheel.name} in Python {python.version[0]}.{python.version[1]}")
    with tempfile.TemporaryDirectory() as folder:
        clean = Environment(Path(folder) / "environment", python)
        print(f"    installed in {clean.install(wheel):.1f} s")
        said = clean.run("manyclass", "--version").strip()
        assert said == f"manyclass {version}", said
        assert "Usage: manyclass" in clean.run("python", "-m", "manyclass", "--help")
        print("   ", clean.run("python", "-c", FIT).strip())
        clean.install("pytest", "hypothesis")
        quiet = ("-q", "-p", "no:cacheprovider", "--no-header")
        print("   ", clean.run("python", "-m", "pytest", *quiet, ROOT / "tests" / "test_readme.py").splitlines()[-1])
        if demo:
            clean.install(f"{wheel}[plot]")
            began = time.perf_counter()
            clean.run("manyclass", "demo", "-o", "demo", seconds=7200)
            assert (clean.folder / "demo" / "report.html").stat().st_size > 100_000
            print(f"    the demo took {time.perf_counter() - began:.0f} s")
    sys.stdout.flush()
