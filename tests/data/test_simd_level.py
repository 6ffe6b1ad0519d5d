"""The instruction set that the environment names."""

import os
import subprocess
import sys

import pytest

from manyclass import _native


def level_in_a_process(name):
    """Of a process that is started with MANYCLASS_SIMD_LEVEL."""
    return subprocess.run(
        [sys.executable, "-c", "from manyclass import _native; print(_native.level())"],
        env={**os.environ, "MANYCLASS_SIMD_LEVEL": name}, capture_output=True, text=True, timeout=120,
    )  # fmt: skip


@pytest.mark.parametrize("name", _native.levels())
def test_the_environment_names_the_level(name):
    assert level_in_a_process(name).stdout.strip() == name


def test_an_empty_name_in_the_environment_is_none():
    assert level_in_a_process("").stdout.strip() == _native.levels()[-1]


def test_a_level_of_the_environment_that_the_processor_lacks_ends_the_import():
    failed = level_in_a_process("sse9")
    assert failed.returncode == 1
    there = ", ".join(_native.levels())
    said = f"MANYCLASS_SIMD_LEVEL must be a level of this processor ({there}) or unset; got 'sse9'"
    assert failed.stderr.strip().splitlines()[-1] == f"ImportError: {said}"
