"""Versions of the libraries that benchmarks compare with, here and where MANYCLASS_PEERS points."""

import json
import os
import subprocess
import sys

LIBRARIES = (
    "numpy", "scikit-learn", "faiss-cpu", "cyanure", "snapml", "liblinear-official", "copt", "spams", "cyvlfeat",
    "cleanlab",
)  # fmt: skip
# Run by another interpreter, which may have nothing of ours.
_ASK = """
import importlib.metadata, json, sys
found = {}
for name in sys.argv[1:]:
    try:
        found[name] = importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        pass
print(json.dumps(found))
"""


def versions() -> str:
    """Those that are installed, such as `numpy 2.4.6, scikit-learn 1.9.1`; what is here goes before what is there."""
    found: dict[str, str] = {}
    for python in (os.environ.get("MANYCLASS_PEERS"), sys.executable):
        if python:
            said = subprocess.run([python, "-c", _ASK, *LIBRARIES], capture_output=True, text=True, check=True)
            found |= json.loads(said.stdout)
    return ", ".join(f"{name} {found[name]}" for name in LIBRARIES if name in found)
