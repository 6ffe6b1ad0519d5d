"""What the files of a release must hold, and what must not be in them; every fault is a sentence."""

import re
import tarfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
# What a source distribution has beside src/ and native/.
SOURCE_FILES = {"CHANGELOG.md", "CITATION.cff", "CMakeLists.txt", "LICENSE", "PKG-INFO", "README.md", "pyproject.toml"}
# Without these an installation looks whole and is not: types, the page of the server, the style of the report.
NEEDED = ("py.typed", "_native.pyi", "server/static/index.html", "server/static/main.js", "report/assets/page.css")
MOST_BYTES = 5_000_000


def said_versions(root: Path = ROOT) -> dict[str, str]:
    """The version that each place says. The package is where it is changed; the build reads it there."""
    patterns = {
        "src/manyclass/__init__.py": r'^__version__ = "(.+)"$',
        "CITATION.cff": r"^version: (.+)$",
        "recipe/recipe.yaml": r'^  version: "(.+)"$',
    }
    return {name: _only_match(pattern, (root / name).read_text(encoding="utf-8")) for name, pattern in patterns.items()}


def release_version(root: Path = ROOT) -> str:
    """The one version of all places."""
    said = said_versions(root)
    if len(set(said.values())) != 1:
        raise ValueError(f"every place must say the same version; got {said}")
    return said["src/manyclass/__init__.py"]


def faults_of(path: Path, root: Path = ROOT) -> list[str]:
    """What is wrong with a wheel or a source distribution of the checkout in `root`."""
    return _wheel_faults(path, root) if path.suffix == ".whl" else _source_faults(path, root)


def _wheel_faults(path: Path, root: Path) -> list[str]:
    version, package = release_version(root), root / "src" / "manyclass"
    about = f"manyclass-{version}.dist-info"
    with zipfile.ZipFile(path) as archive:
        held = {name: archive.read(name) for name in archive.namelist() if not name.endswith("/")}
    ours = {f"manyclass/{name}": content for name, content in _files(package).items()}
    native = [name for name in held if re.fullmatch(r"manyclass/_native\.[\w.-]*so", name)]
    may_be = {*ours, *native, "manyclass/_native.pyi", *(name for name in held if name.startswith(f"{about}/"))}
    faults = [f"{name} is no part of the package" for name in sorted(set(held) - may_be)]
    faults += [f"{name} is missing" for name in sorted({*ours, *(f"manyclass/{name}" for name in NEEDED)} - set(held))]
    faults += _changed(held, ours)
    if len(native) != 1:
        faults.append(f"there must be one native module; got {native}")
    if held.get(f"{about}/licenses/LICENSE") != (root / "LICENSE").read_bytes():
        faults.append("the license is missing or another")
    if "manyclass = manyclass.cli.main:main" not in held.get(f"{about}/entry_points.txt", b"").decode():
        faults.append("the command manyclass is missing")
    tags = r"(cp311-cp311|cp312-abi3)-(manylinux|musllinux|macosx)_.*"
    if not re.fullmatch(rf"manyclass-{re.escape(version)}-{tags}\.whl", path.name):
        faults.append(f"the name must tell version {version}, Python and a platform of others than this machine")
    if path.stat().st_size > MOST_BYTES:
        faults.append(f"the file must have at most {MOST_BYTES:,} bytes; got {path.stat().st_size:,}")
    return faults + _metadata_faults(held.get(f"{about}/METADATA", b""), version)


def _source_faults(path: Path, root: Path) -> list[str]:
    version = release_version(root)
    top = f"manyclass-{version}/"
    with tarfile.open(path) as archive:
        held = {
            member.name.removeprefix(top): archive.extractfile(member).read()  # type: ignore[union-attr]
            for member in archive.getmembers()
            if member.isfile()
        }
    ours = {f"{folder}/{name}": text for folder in ("src", "native") for name, text in _files(root / folder).items()}
    ours |= {name: (root / name).read_bytes() for name in SOURCE_FILES - {"PKG-INFO"}}
    faults = [f"{name} is needed by nobody who builds" for name in sorted(set(held) - set(ours) - {"PKG-INFO"})]
    faults += [f"{name} is missing" for name in sorted({*ours, "PKG-INFO"} - set(held))]
    faults += _changed(held, ours)
    return faults + _metadata_faults(held.get("PKG-INFO", b""), version)


def _changed(held: dict[str, bytes], ours: dict[str, bytes]) -> list[str]:
    changed = sorted(name for name in ours if held.get(name, ours[name]) != ours[name])
    return [f"{name} is not that of the checkout" for name in changed]


def _metadata_faults(metadata: bytes, version: str) -> list[str]:
    lines = metadata.decode().splitlines()
    wanted = (f"Version: {version}", "License-Expression: BSD-3-Clause", "Requires-Python: >=3.11")
    return [f"the metadata must say {line}" for line in wanted if line not in lines]


def _files(folder: Path) -> dict[str, bytes]:
    """What is to be shipped of a folder of the checkout, without what building and running it leave there."""
    left = {".pyc", ".so"}
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.suffix not in left and path.name != "_native.pyi"
    }


def _only_match(pattern: str, text: str) -> str:
    found = re.findall(pattern, text, re.MULTILINE)
    if len(found) != 1:
        raise ValueError(f"there must be one line like {pattern}; got {len(found)}")
    return str(found[0])
