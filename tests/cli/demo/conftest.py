"""One small demo that ended well, for all tests of its parts."""

import pytest

from manyclass.cli.terminal.console import Console


@pytest.fixture(scope="package", autouse=True)
def own_cache(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="package")
def once(tmp_path_factory):
    """The folder of a demo that ended well, and what it said as JSON; tests leave it as it is."""
    from manyclass.cli.demo.command import run

    out = tmp_path_factory.mktemp("ended") / "demo"
    return out, run(out, 40, 8, 0, Console(quiet=True))
