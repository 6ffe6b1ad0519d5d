"""What installing the core costs in bytes and seconds, beside scikit-learn alone, which it needs."""

import os
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from release.interpreters import Interpreter
from release.trial import Environment


@dataclass(frozen=True)
class Cost:
    """Of a fresh environment: packages, bytes to download and on disk, and seconds without and with pip's cache.

    Seconds are (by the clock, of the processor): on a busy machine the second says more.
    """

    name: str
    packages: int
    downloaded: int
    installed: int
    cold: tuple[float, float]
    warm: tuple[float, float]


def install_cost(name: str, what: str | Path, python: Interpreter) -> Cost:
    """Install into one fresh environment without pip's cache, and into another with it."""
    with tempfile.TemporaryDirectory() as folder:
        cold, warm = (Environment(Path(folder) / side, python) for side in ("cold", "warm"))
        before, own = _bytes(cold), len(_packages(cold))
        seconds = _install(cold, "--no-cache-dir", what)
        warm.run("python", "-m", "pip", "download", "--quiet", "--only-binary", ":all:", "--dest", "wheels", what)
        downloaded = sum(path.stat().st_size for path in (warm.folder / "wheels").iterdir())
        return Cost(name, len(_packages(cold)) - own, downloaded, _bytes(cold) - before, seconds, _install(warm, what))


def as_table(costs: list[Cost]) -> str:
    """Markdown.

    >>> print(as_table([Cost("manyclass", 12, 80_000_000, 250_000_000, (20.04, 12.0), (9.96, 8.0))]))
    | fresh environment | packages | download | on disk | without pip's cache (processor) | with it |
    | --- | --- | --- | --- | --- | --- |
    | manyclass | 12 | 80.0 MB | 250.0 MB | 20.0 s (12.0 s) | 10.0 s (8.0 s) |
    """
    head = ["fresh environment", "packages", "download", "on disk", "without pip's cache (processor)", "with it"]
    rows = [
        [one.name, f"{one.packages}", *(f"{size / 1e6:.1f} MB" for size in (one.downloaded, one.installed))]
        + [f"{clock:.1f} s ({processor:.1f} s)" for clock, processor in (one.cold, one.warm)]
        for one in costs
    ]
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, ["---"] * len(head), *rows])


def _install(environment: Environment, *what: str | Path) -> tuple[float, float]:
    before = os.times()
    clock = environment.install(*what)
    after = os.times()
    spent = after.children_user + after.children_system - before.children_user - before.children_system
    return clock, spent


def _packages(environment: Environment) -> list[Path]:
    return list(_site(environment).glob("*.dist-info"))


def _bytes(environment: Environment) -> int:
    """Of what is installed, with the bytecode that pip compiles."""
    return sum(path.stat().st_size for path in _site(environment).rglob("*") if path.is_file())


def _site(environment: Environment) -> Path:
    code = "import sysconfig; print(sysconfig.get_path('purelib'))"
    done = subprocess.run([environment.programs / "python", "-c", code], capture_output=True, text=True, check=True)
    return Path(done.stdout.strip())
