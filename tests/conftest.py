"""Settings and fixtures that all tests share."""

import pytest
from hypothesis import HealthCheck, settings

# The same examples every time; a slow machine is not a failure.
settings.register_profile(
    "manyclass",
    derandomize=True,
    deadline=None,
    max_examples=15,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("manyclass")


@pytest.fixture
def any_level():
    """The names of the instruction sets of this machine; the one in force comes back after the test."""
    from manyclass import _native

    before = _native.level()
    yield _native.levels()
    _native.set_level(before)
