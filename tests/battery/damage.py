"""Damage to a file: flipped bits, cuts, zeros, another file in its place, a link or a pipe."""

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from tests.battery.snapshots import holds
from tests.battery.trials import Trials, wrong_words

_PAGE = 512


def flip(path: Path, rng: np.random.Generator) -> None:
    """Turn a bit around."""
    data = bytearray(path.read_bytes())
    data[rng.integers(len(data))] ^= 1 << int(rng.integers(8))
    path.write_bytes(data)


def cut(path: Path, rng: np.random.Generator) -> None:
    """Leave a beginning, perhaps nothing."""
    os.truncate(path, int(rng.integers(path.stat().st_size)))


def zero(path: Path, rng: np.random.Generator) -> None:
    """Make a page that holds something hold nothing, as a disk may after the power went."""
    data = bytearray(path.read_bytes())
    start = int(rng.integers(len(data))) // _PAGE * _PAGE
    page = data[start : start + _PAGE]
    data[start : start + _PAGE] = bytes(len(page)) if any(page) else b"\xff" * len(page)
    path.write_bytes(data)


def link_to_itself(path: Path, rng: np.random.Generator) -> None:
    """A link that leads nowhere."""
    path.unlink()
    path.symlink_to(path.name)


def link_to_zeros(path: Path, rng: np.random.Generator) -> None:
    """A link to a device without an end."""
    path.unlink()
    path.symlink_to("/dev/zero")


def pipe(path: Path, rng: np.random.Generator) -> None:
    """A pipe that nobody writes to."""
    path.unlink()
    os.mkfifo(path)


DAMAGES = {"flip": flip, "cut": cut, "zeros": zero, "link": link_to_itself, "device": link_to_zeros, "pipe": pipe}


def readings(trials: Trials) -> Iterator[tuple[str, str]]:
    """(file, reader) for all that a command wrote and all that reads it."""
    for file in trials.written:
        for words in trials.command.reads:
            yield file, words


def judge_damaged(trials: Trials, kind: str, file: str, words: str, rng: np.random.Generator) -> str:
    """What is wrong with what a reader does about a damaged file; "" if it refuses it or finds what was there."""
    right = trials.reading("new", words)
    trials.finish()
    DAMAGES[kind](trials.folder / file, rng)
    return _wrong(trials, words, right)


def some_others(trials: Trials, file: str, times: int, rng: np.random.Generator) -> Iterator[tuple[str, str, bytes]]:
    """(output, name, content) of files that could be taken for one: of its name, or else of its kind or size.

    But for a file with which the other output is whole, as one is of which all else is the same or is still there.
    """
    own = trials.content[file]
    outputs = {"the old": trials.old, "another": trials.rival[1] if trials.has_rival else {}, "itself": trials.content}
    found = [
        (output, name, data)
        for output, files in outputs.items()
        for name, data in files.items()
        if isinstance(data, bytes) and data != own and (output == "another" or name in trials.changed)
    ]
    found = [one for one in found if not holds({**trials.content, file: one[2]}, outputs[one[0]])]
    same = [one for one in found if one[1] == file]
    alike = [one for one in found if one not in same and _alike(file, own, *one[1:])]
    yield from same
    yield from (alike[i] for i in rng.permutation(len(alike))[:times])


def _alike(file: str, own: bytes, name: str, data: bytes) -> bool:
    return os.path.splitext(name)[1] == os.path.splitext(file)[1] or len(own) <= 2 * len(data) <= 4 * len(own)


def judge_swapped(trials: Trials, file: str, data: bytes, words: str, other: str | None = None) -> str:
    """The same for the content of another file in the place of one, which takes that of the other if it has a name."""
    right = trials.reading("new", words)
    trials.finish()
    (trials.folder / file).write_bytes(data)
    if other is not None:
        (trials.folder / other).write_bytes(trials.content[file])
    return _wrong(trials, words, right)


def _wrong(trials: Trials, words: str, right: object) -> str:
    ended, found = trials.read(words)
    if found == right:
        return ""
    return f"finds something else, {(ended.out + ended.err)[-200:]!r}" if ended.code == 0 else wrong_words(ended)
