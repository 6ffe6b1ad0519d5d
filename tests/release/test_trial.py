"""An environment in which nothing can be compiled."""

import pytest

from release.trial import clean_variables


def test_of_the_variables_of_the_caller_only_those_of_pip_and_the_network_are_left(tmp_path):
    given = {
        "CXX": "g++",
        "PYTHONPATH": "src",
        "VIRTUAL_ENV": "x",
        "PATH": "/usr/bin",
        "PIP_CERT": "a",
        "http_proxy": "b",
    }
    left = clean_variables(given, tmp_path)
    assert left.pop("XDG_CACHE_HOME").startswith(str(tmp_path))
    assert left == {"PIP_CERT": "a", "http_proxy": "b", "PATH": f"{tmp_path}/bin:{tmp_path}/system"}


def test_an_environment_with_a_compiler_is_refused(tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "g++").touch(mode=0o755)
    with pytest.raises(ValueError, match=r"a clean environment must be without g\+\+"):
        clean_variables({}, tmp_path)
