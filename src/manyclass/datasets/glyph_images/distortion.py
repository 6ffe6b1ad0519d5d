"""Small random changes to a drawing: where it lies, how it leans, how thick, how dark and how clean it is."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

_SHIFT = 0.05  # of the side of the image

_SCALE = 0.10  # of the size, as a power of e

_ROTATION = 8.0  # degrees

_SHEAR = 0.1

_BLUR = (0.2, 1.1)  # pixels of the drawing, which is twice as fine as the image

_STROKE = (0.6, 1.25)  # power of the ink: below 1 thickens, above 1 thins

_INK, _PAPER = (0, 90), (185, 255)

_NOISE = 9.0  # gray levels


@dataclass(frozen=True)
class Distortion:
    """What happens to one drawing. Each number is its own draw, so that none depends on the size of the image."""

    matrix: NDArray[np.float64]  # (2, 2), from the image back to the drawing
    shift: NDArray[np.float64]  # (2,), of the side
    blur: float
    stroke: float
    ink: float
    paper: float
    noise: float

    @classmethod
    def draw(cls, rng: np.random.Generator) -> Self:
        u = rng.uniform(-1, 1, 5)
        v = rng.uniform(0, 1, 5)
        angle, scale = np.deg2rad(_ROTATION * u[2]), np.exp(_SCALE * u[3])
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        return cls(
            matrix=np.linalg.inv(scale * turn @ np.array([[1, _SHEAR * u[4]], [0, 1]])),
            shift=_SHIFT * u[:2],
            blur=_between(_BLUR, v[0]),
            stroke=_between(_STROKE, v[4]),
            ink=_between(_INK, v[1]),
            paper=_between(_PAPER, v[2]),
            noise=_NOISE * float(v[3]),
        )

    def apply(self, drawing: NDArray[np.uint8], rng: np.random.Generator) -> NDArray[np.uint8]:
        """The image (s, s) of a drawing (2 s, 2 s): dark ink on light paper."""
        ink = (self._move(drawing) / 255) ** self.stroke
        gray = self.paper + (self.ink - self.paper) * ink
        gray += self.noise * rng.standard_normal(gray.shape, np.float32)
        return np.clip(np.rint(gray), 0, 255).astype(np.uint8)

    def _move(self, drawing: NDArray[np.uint8]) -> NDArray[Any]:
        from PIL import Image, ImageFilter

        side = len(drawing)
        middle = np.full(2, side / 2)
        offset = middle - self.matrix @ (middle + side * self.shift)
        inverse = (*self.matrix[0], offset[0], *self.matrix[1], offset[1])
        moved = Image.fromarray(drawing).transform(
            (side, side), Image.Transform.AFFINE, inverse, Image.Resampling.BILINEAR
        )
        return np.asarray(moved.filter(ImageFilter.GaussianBlur(self.blur)).reduce(2), np.float32)


def _between(span: tuple[float, float], fraction: float) -> float:
    return float(span[0] + (span[1] - span[0]) * fraction)
