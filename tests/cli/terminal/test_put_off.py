import subprocess
import sys
from types import ModuleType

from manyclass.cli.terminal.put_off import PutOffModule, put_off

PROGRAM = """
import sys
from manyclass.cli.terminal.put_off import put_off
put_off("scipy.stats")
import sklearn.base
assert "scipy.stats._stats_py" not in sys.modules
{use}
assert "scipy.stats._stats_py" in sys.modules
"""

USES = [
    "import scipy.stats; assert scipy.stats.mode([1, 2, 2])[0] == 2",
    "from scipy.stats import rankdata; assert rankdata([5, 1]).tolist() == [2, 1]",
    "from scipy import stats; assert stats.norm.cdf(0) == 0.5",
    "import scipy.stats.distributions; assert scipy.stats.distributions.norm.cdf(0) == 0.5",
    "from sklearn.utils.fixes import _mode; assert _mode([[1], [2], [2]])[0] == 2",
]


def test_every_way_to_use_it_finds_the_module():
    for use in USES:
        subprocess.run([sys.executable, "-c", PROGRAM.format(use=use)], check=True)


def test_what_is_there_stays():
    before = sys.modules["json"]
    put_off("json")
    assert sys.modules["json"] is before


def test_a_module_that_is_not_there_says_so_when_it_is_used():
    put_off("no_such_module_of_ours")
    stands = sys.modules["no_such_module_of_ours"]
    assert isinstance(stands, PutOffModule)
    try:
        assert isinstance(stands, ModuleType)
        stands.anything  # noqa: B018
    except ModuleNotFoundError:
        return
    finally:
        sys.modules.pop("no_such_module_of_ours", None)
    raise AssertionError("it must not be found")
