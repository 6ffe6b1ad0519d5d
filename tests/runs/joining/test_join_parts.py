"""join looks at what the parts are before anything else."""

import numpy as np
import pytest

import manyclass as mc
from tests.features.child import Means
from tests.features.extraction.written import many_images


@pytest.fixture
def parts(tmp_path):
    for i in (1, 2):
        mc.write_features(tmp_path / f"part{i}", many_images(6), Means(), shard=f"{i}/2")
    return [tmp_path / "part1", tmp_path / "part2"]


def test_no_parts_are_refused(tmp_path):
    with pytest.raises(ValueError, match="parts must name at least one part; got none"):
        mc.runs.join(tmp_path / "joined", [])


def test_paths_may_be_strings(tmp_path, parts):
    assert mc.runs.join(str(tmp_path / "joined"), [str(part) for part in parts])["rows"] == 6


def test_the_result_must_be_no_part(parts):
    with pytest.raises(mc.StorageError, match="part2 is one of the parts; choose another name"):
        mc.runs.join(parts[1], parts, overwrite=True)
    assert len(mc.open_store(parts[1])) == 3


def test_the_result_must_lie_in_no_part(parts):
    """Parts stay as they are, and whoever removes them must not remove the result."""
    before = sorted(parts[0].iterdir())
    with pytest.raises(mc.StorageError, match=r"joined lies in the part .*part1; choose another name"):
        mc.runs.join(parts[0] / "joined", parts)
    assert sorted(parts[0].iterdir()) == before


def test_a_part_is_given_once(tmp_path, parts):
    (tmp_path / "link").symlink_to(parts[0])
    with pytest.raises(mc.StorageError, match="link is given twice"):
        mc.runs.join(tmp_path / "joined", [*parts, tmp_path / "link"])


def test_stores_and_galleries_are_not_mixed(tmp_path, parts):
    np.save(tmp_path / "x.npy", np.random.default_rng(0).random((200, 12), np.float32))
    mc.runs.build_gallery(tmp_path / "x.npy", tmp_path / "g", method="none", shard="2/2")
    with pytest.raises(mc.StorageError, match=r"part1 is a store and .*g is a gallery; give parts of one kind"):
        mc.runs.join(tmp_path / "joined", [parts[0], tmp_path / "g"])
    with pytest.raises(mc.StorageError, match=r"nothing cannot be read as a store: there is no such folder"):
        mc.runs.join(tmp_path / "joined", [tmp_path / "g", tmp_path / "nothing"])


def test_what_is_no_part_is_refused(tmp_path, parts):
    (tmp_path / "folder").mkdir()
    with pytest.raises(mc.StorageError, match=r"nothing cannot be read as a store: there is no such folder"):
        mc.runs.join(tmp_path / "joined", [*parts, tmp_path / "nothing"])
    with pytest.raises(mc.StorageError, match=r"folder cannot be read as a store: it has no manifest\.json"):
        mc.runs.join(tmp_path / "joined", [*parts, tmp_path / "folder"])
    mc.write_store(tmp_path / "whole", np.eye(2, dtype=np.float32))
    with pytest.raises(mc.StorageError, match="whole is no part: it was made without `shard`"):
        mc.runs.join(tmp_path / "joined", [tmp_path / "whole"])
