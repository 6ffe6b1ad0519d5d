"""Which Pythons make and take which wheel."""

import sys
from pathlib import Path

import pytest

from release.interpreters import Interpreter, as_interpreters, makers, runs_here

HERE = sys.version_info[:2]


def python(minor):
    return Interpreter(Path(f"python3.{minor}"), (3, minor))


def test_of_one_version_the_first_that_runs_is_taken(tmp_path):
    broken = tmp_path / "python3"
    broken.write_text("#!/bin/sh\nexit 127\n")
    broken.chmod(0o755)
    again = tmp_path / "again"
    again.symlink_to(sys.executable)
    (found,) = as_interpreters([broken, sys.executable, again])
    assert (found.path, found.version) == (Path(sys.executable), HERE)


@pytest.mark.parametrize(("there", "make"), [([11, 12, 13], [11, 12]), ([11], [11]), ([13, 14], [13]), ([], [])])
def test_one_wheel_is_made_for_all_pythons_from_3_12_on(there, make):
    assert makers([python(minor) for minor in there]) == [python(minor) for minor in make]


@pytest.mark.parametrize(
    ("minor", "tags", "takes"),
    [(11, "cp311-cp311", True), (12, "cp311-cp311", False), (11, "cp312-abi3", False), (14, "cp312-abi3", True)],
)
def test_a_wheel_is_taken_by_the_pythons_that_its_tags_name(minor, tags, takes):
    assert python(minor).takes(Path(f"manyclass-0.2.0-{tags}-manylinux_2_28_x86_64.whl")) == takes


@pytest.mark.parametrize(
    ("tags", "system", "machine", "runs"),
    [
        ("manylinux_2_28_x86_64", "linux", "x86_64", True),
        ("manylinux_2_28_x86_64", "linux", "aarch64", False),
        ("manylinux_2_28_x86_64", "darwin", "x86_64", False),
        ("macosx_11_0_arm64", "darwin", "arm64", True),
        ("musllinux_1_2_x86_64", "linux", "x86_64", False),
    ],
)
def test_a_wheel_runs_on_the_machines_that_its_tags_name(tags, system, machine, runs):
    assert runs_here(Path(f"manyclass-0.2.0-cp312-abi3-{tags}.whl"), system, machine) == runs
