"""Weights in files, of all classes or of ranges: whoever goes on finds its own, and nothing in a file is believed."""

import tracemalloc

import numpy as np
import pytest

from manyclass.solvers.sgd.descent import AveragedWeights
from manyclass.solvers.sgd.linear_weights import LinearWeights
from manyclass.solvers.sgd.saved_weights import FORMAT, SavedRange, SavedWeights, read_ranges, write_range

K, D, FIRST = 20, 3, 128


def machines(seed):
    rng = np.random.default_rng(seed)
    found = LinearWeights.of(rng.normal(size=(K, D)), rng.normal(size=K))
    found.scales[:], found.steps[:], found.first = rng.random(K), rng.integers(0, 99, K), FIRST
    return found


def weights(best=True):
    return AveragedWeights(machines(1), machines(2), machines(3) if best else None)


def part(whole, classes):
    best = None if whole.best is None else whole.best.part(classes)
    return AveragedWeights(whole.machines.part(classes), whole.mean.part(classes), best)


def saved(folder, cuts, best=True):
    found = []
    for start, stop in zip([0, *cuts], [*cuts, K], strict=True):
        classes, path = range(FIRST + start, FIRST + stop), folder / f"c.part-{start}"
        write_range(path, part(weights(best), classes))
        found.append(SavedRange.of(path, classes))
    return found


def same(found, expected):
    arrays, others = found.arrays(), expected.arrays()
    return arrays.keys() == others.keys() and all(arrays[name].tobytes() == others[name].tobytes() for name in arrays)


@pytest.mark.parametrize("best", [True, False])
@pytest.mark.parametrize("classes", [(0, 20), (0, 7), (3, 9), (7, 20), (19, 20)])
@pytest.mark.parametrize("cuts", [[], [7], [3, 9], [1, 2, 19]])
def test_any_range_is_read_from_files_of_any_ranges(tmp_path, cuts, classes, best):
    wanted = range(FIRST + classes[0], FIRST + classes[1])
    found = read_ranges(saved(tmp_path, cuts, best), wanted)
    assert found.machines.classes == found.mean.classes == wanted
    assert same(found, part(weights(best), wanted))


@pytest.mark.parametrize(("files", "copies"), [(1, 3), (2, 4)])
def test_weights_are_read_to_where_they_stay(tmp_path, files, copies):
    k, d, parts = 512, 1 << 11, []
    for classes in (range(k),) if files == 1 else (range(k // 2), range(k // 2, k)):
        one = LinearWeights.zeros(len(classes), d, classes.start)
        write_range(tmp_path / f"c.part-{classes.start}", AveragedWeights(one, one.copy(), one.copy()))
        parts.append(SavedRange.of(tmp_path / f"c.part-{classes.start}", classes))
    tracemalloc.start()
    found = read_ranges(parts, range(k))
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.shape == (k, d)
    assert most < (copies + 0.75) * 4 * k * d


def test_of_a_file_of_more_classes_the_others_are_left_where_they_are(tmp_path):
    k, d = 1024, 1 << 11
    one = LinearWeights.zeros(k, d)
    write_range(tmp_path / "c.part-0", AveragedWeights(one, one.copy(), one.copy()))
    part = SavedRange.of(tmp_path / "c.part-0", range(k))
    tracemalloc.start()
    read_ranges([part], range(256, 512))
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 1.25 * 4 * k * d  # three times a quarter, and a piece of the file


def test_files_that_have_none_of_the_classes_are_not_read(tmp_path):
    first, second = saved(tmp_path, [7])
    second.path.unlink()
    assert same(read_ranges([first, second], first.classes), part(weights(), first.classes))


def test_what_a_checkpoint_says_of_its_parts_comes_back(tmp_path):
    ranges = saved(tmp_path, [7, 9])
    content = {"shape": [K, D], "parts": [one.json() for one in ranges]}
    found = SavedWeights.read(tmp_path / "c", content, {})
    assert (found.shape, found.ranges(range(FIRST, FIRST + K))) == ((K, D), ranges)
    assert same(found.load(range(FIRST, FIRST + K)), weights())


CRAFTED = {
    "another folder": lambda parts: parts[0].update(name="../c.part-0"),
    "another file": lambda parts: parts[0].update(name="secret"),
    "no name": lambda parts: parts[0].pop("name"),
    "a gap": lambda parts: parts[1].update(first=FIRST + 8),
    "too few": lambda parts: parts.pop(),
    "no numbers": lambda parts: parts[0].update(first=0.5),
    "huge": lambda parts: parts[1].update(stop=2**40),
    "seal": lambda parts: parts[0].update(sha256=7),
}


@pytest.mark.parametrize("change", CRAFTED.values(), ids=CRAFTED)
def test_parts_that_are_no_parts_are_refused(tmp_path, change):
    parts = [one.json() for one in saved(tmp_path, [7])]
    change(parts)
    with pytest.raises((ValueError, KeyError)):
        SavedWeights.read(tmp_path / "c", {"shape": [K, D], "parts": parts}, {})


DAMAGED = {
    "shape": lambda arrays: arrays.update({"mean.W": arrays["mean.W"][:, :-1].copy()}),
    "classes": lambda arrays: arrays.update({name: array[:-1].copy() for name, array in arrays.items()}),
    "dtype": lambda arrays: arrays.update({"machines.W": arrays["machines.W"].astype(np.float64)}),
    "not finite": lambda arrays: arrays["best.W"].__setitem__(0, np.nan),
    "vector": lambda arrays: arrays.update({"machines.W": arrays["machines.W"].ravel()}),
    "missing": lambda arrays: arrays.pop("mean.steps"),
}


@pytest.mark.parametrize("change", DAMAGED.values(), ids=DAMAGED)
def test_a_part_with_a_good_seal_that_holds_no_weights_is_one_sentence(tmp_path, change):
    (one,) = saved(tmp_path, [])
    content, arrays = FORMAT.read(one.path)
    change(arrays)
    FORMAT.write(one.path, content, arrays)
    with pytest.raises(ValueError, match=r"^[^\n]*c\.part-0 cannot be read as a manyclass checkpoint: .* begin anew$"):
        SavedRange.of(one.path, one.classes).read()


def test_parts_with_and_without_the_best_are_not_of_one_descent(tmp_path):
    (tmp_path / "a").mkdir()
    mixed = [saved(tmp_path, [7])[0], saved(tmp_path / "a", [7], best=False)[1]]
    with pytest.raises(ValueError, match="are not of one descent; remove the file"):
        read_ranges(mixed, range(FIRST, FIRST + K))
