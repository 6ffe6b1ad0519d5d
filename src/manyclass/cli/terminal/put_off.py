"""Modules that are put off until somebody asks them for something: no command waits for what it has no use for.

scikit-learn imports scipy.stats, which takes more than half of the time of both, for a function that no command calls.
It is put off only in the process of a command, which is ours; `import manyclass` changes nothing for anybody.
"""

import importlib
import sys
from types import ModuleType
from typing import Any


class PutOffModule(ModuleType):
    """Stands where a module will be, and becomes it when it is asked for anything.

    >>> import sys
    >>> sys.modules["colorsys"] = PutOffModule("colorsys")
    >>> import colorsys
    >>> colorsys.rgb_to_hls(0.0, 1.0, 0.0)
    (0.3333333333333333, 0.5, 1.0)
    >>> type(sys.modules["colorsys"]).__name__
    'module'
    """

    def __getattr__(self, name: str) -> Any:
        if name in ("__spec__", "__file__"):  # importing asks for these, of what is there already
            raise AttributeError(name)
        return getattr(self._real(), name)

    def _real(self) -> ModuleType:
        name = self.__name__
        if sys.modules.get(name) is self:
            del sys.modules[name]
        return importlib.import_module(name)


def put_off(name: str) -> None:
    """Import a module only when somebody asks it for something; one that is there already stays."""
    if name not in sys.modules:
        sys.modules[name] = PutOffModule(name)
