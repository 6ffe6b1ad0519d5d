"""One positive against a world of negatives: every image a class of its own."""

from manyclass.exemplar.calibration import calibrate
from manyclass.exemplar.encoder import Encoder

__all__ = ["Encoder", "calibrate"]
