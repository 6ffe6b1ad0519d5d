"""What may be in the files of a release, on archives of a small checkout."""

import io
import shutil
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

from release.contents import NEEDED, SOURCE_FILES, faults_of, release_version, said_versions

ROOT = Path(__file__).parents[2]
VERSION = said_versions(ROOT)["src/manyclass/__init__.py"]
ABOUT = f"manyclass-{VERSION}.dist-info"
METADATA = f"Version: {VERSION}\nLicense-Expression: BSD-3-Clause\nRequires-Python: >=3.11\n".encode()
WHEEL = f"manyclass-{VERSION}-cp312-abi3-manylinux_2_28_x86_64.whl"


@pytest.fixture
def checkout(tmp_path):
    """As little as a release is made of, with what running it leaves."""
    root = tmp_path / "checkout"
    for name in (*SOURCE_FILES - {"PKG-INFO"}, "recipe/recipe.yaml", "src/manyclass/__init__.py"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, root / name)
    for name in ("native/search.cpp", *(f"src/manyclass/{name}" for name in NEEDED)):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name)
    (root / "src/manyclass/__pycache__").mkdir()
    (root / "src/manyclass/__pycache__/left.pyc").write_bytes(b"")
    return root


@pytest.fixture
def in_wheel(checkout):
    """What belongs into a wheel of it."""
    package = {f"manyclass/{name}": name for name in NEEDED}
    held = {name: (checkout / "src" / name).read_bytes() for name in (*package, "manyclass/__init__.py")}
    held["manyclass/_native.abi3.so"] = b"native"
    held[f"{ABOUT}/licenses/LICENSE"] = (checkout / "LICENSE").read_bytes()
    held[f"{ABOUT}/entry_points.txt"] = b"[console_scripts]\nmanyclass = manyclass.cli.main:main\n"
    held[f"{ABOUT}/METADATA"] = METADATA
    return held


def write_wheel(folder, held, name=WHEEL):
    with zipfile.ZipFile(folder / name, "w") as archive:
        for member, content in held.items():
            archive.writestr(member, content)
    return folder / name


def write_source(folder, held):
    path = folder / f"manyclass-{VERSION}.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for name, content in held.items():
            member = tarfile.TarInfo(f"manyclass-{VERSION}/{name}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return path


def test_every_place_says_the_same_version():
    assert set(said_versions().values()) == {VERSION}


def test_places_that_disagree_are_told(checkout):
    (checkout / "CITATION.cff").write_text("version: 9.9.9\n")
    with pytest.raises(ValueError, match=r"every place must say the same version; got .*CITATION.cff': '9.9.9'"):
        release_version(checkout)


def test_a_whole_wheel_has_no_fault(checkout, in_wheel):
    assert faults_of(write_wheel(checkout.parent, in_wheel), checkout) == []


@pytest.mark.parametrize("name", ["manyclass/py.typed", "manyclass/server/static/index.html", "manyclass/_native.pyi"])
def test_what_is_missing_in_a_wheel_is_named(checkout, in_wheel, name):
    del in_wheel[name]
    assert faults_of(write_wheel(checkout.parent, in_wheel), checkout) == [f"{name} is missing"]


@pytest.mark.parametrize("name", ["tests/test_readme.py", "manyclass/rows.npy", "manyclass/__pycache__/left.pyc"])
def test_what_does_not_belong_into_a_wheel_is_named(checkout, in_wheel, name):
    in_wheel[name] = b""
    assert faults_of(write_wheel(checkout.parent, in_wheel), checkout) == [f"{name} is no part of the package"]


def test_a_wheel_of_other_sources_is_told(checkout, in_wheel):
    in_wheel["manyclass/__init__.py"] += b"# older\n"
    found = faults_of(write_wheel(checkout.parent, in_wheel), checkout)
    assert found == ["manyclass/__init__.py is not that of the checkout"]


@pytest.mark.parametrize(
    ("name", "content", "fault"),
    [
        (f"{ABOUT}/licenses/LICENSE", b"mine", "the license is missing or another"),
        (f"{ABOUT}/entry_points.txt", b"", "the command manyclass is missing"),
        (f"{ABOUT}/METADATA", METADATA.replace(b"BSD-3-Clause", b"MIT"), "must say License-Expression: BSD-3-Clause"),
        ("manyclass/_native.cpython-311.so", b"", "there must be one native module"),
        ("manyclass/_native.abi3.so", bytes(5_000_001), "at most 5,000,000 bytes"),
    ],
)
def test_other_faults_of_a_wheel_are_told(checkout, in_wheel, name, content, fault):
    (found,) = faults_of(write_wheel(checkout.parent, {**in_wheel, name: content}), checkout)
    assert fault in found


@pytest.mark.parametrize("tag", ["cp312-abi3-linux_x86_64", "cp313-cp313-manylinux_2_28_x86_64"])
def test_a_wheel_for_this_machine_or_one_python_alone_is_refused(checkout, in_wheel, tag):
    (found,) = faults_of(write_wheel(checkout.parent, in_wheel, f"manyclass-{VERSION}-{tag}.whl"), checkout)
    assert found.startswith("the name must tell")


def test_a_source_distribution_has_what_builds_and_nothing_else(checkout):
    held = {name: (checkout / name).read_bytes() for name in SOURCE_FILES - {"PKG-INFO"}} | {"PKG-INFO": METADATA}
    for path in [*(checkout / "src").rglob("*"), *(checkout / "native").rglob("*")]:
        if path.is_file() and path.name != "_native.pyi" and path.suffix != ".pyc":
            held[path.relative_to(checkout).as_posix()] = path.read_bytes()
    assert faults_of(write_source(checkout.parent, held), checkout) == []
    del held["native/search.cpp"]
    faults = faults_of(write_source(checkout.parent, {**held, "photos/cat.jpg": b""}), checkout)
    assert faults == ["photos/cat.jpg is needed by nobody who builds", "native/search.cpp is missing"]


def test_the_conda_recipe_asks_for_what_the_package_asks_for():
    needed = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    recipe = (ROOT / "recipe" / "recipe.yaml").read_text(encoding="utf-8").split("  run:\n")[1].split("\n\n")[0]
    asked = [line.strip(" -").replace(" ", "") for line in recipe.splitlines()]
    assert asked == ["python", *(one.lower() for one in needed)]
