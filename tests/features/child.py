"""Plain encoders, and a process that writes features and is there to be killed: python child.py STORE FOLDER."""

import sys
import time

import numpy as np

import manyclass as mc
from manyclass.datasets import read_images


class Means:
    """Means of the colors in 2 x 2 parts; slow if asked, so that a kill finds it at work."""

    n_features_out_ = 12
    forks = True

    def __init__(self, seconds: float = 0.0):
        self.seconds = seconds

    def encode(self, image):
        time.sleep(self.seconds)
        h, w = (max(1, size // 2) for size in image.shape[:2])
        parts = [image[:h, :w], image[-h:, :w], image[:h, -w:], image[-h:, -w:]]
        return np.concatenate([part.mean(axis=(0, 1)) for part in parts]).astype(np.float32) / 255


class Pairs(Means):
    """The same, two pictures at a time, and with bits that tell with whom a picture was encoded."""

    batch_size = 2

    def encode(self, image):
        return self.encode_many([image])[0]

    def encode_many(self, images):
        rows = np.stack([super(Pairs, self).encode(image) for image in images])
        return rows + np.float32(len(images))


class Peak:
    """The most megabytes that the process which encodes has held so far."""

    n_features_out_ = 1

    def encode(self, image):
        with open("/proc/self/status") as file:
            kilobytes = next(line.split()[1] for line in file if line.startswith("VmHWM"))
        return np.array([int(kilobytes) / 1024], np.float32)


def quantizer():
    return mc.ProductQuantizer(block=4, n_centroids=8, random_state=0)


def write(store, folder, seconds=0.0, progress=None):
    images = read_images(folder)
    return mc.write_features(
        store, images.paths, Pairs(seconds), names=images.names, y=images.y, quantizer=quantizer(), sample=10,
        overwrite=True, progress=progress,
    )  # fmt: skip


if __name__ == "__main__":
    write(sys.argv[1], sys.argv[2], 0.002, lambda done, total: print(done, flush=True))
