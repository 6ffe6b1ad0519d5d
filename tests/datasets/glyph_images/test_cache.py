"""A drawn data set is kept on disk, and a stale or damaged copy is never used."""

import numpy as np
import pytest

from manyclass._core import files
from manyclass.datasets import glyphs
from manyclass.datasets.glyph_images import cache

SMALL = {"n_classes": 2, "n_per_class": 2, "size": 8}


@pytest.fixture
def drawn(monkeypatch):
    """How often something was drawn rather than read."""
    # The package has a function of the same name as the module, so the module is asked for by its full name.
    from importlib import import_module

    module, calls = import_module("manyclass.datasets.glyph_images.glyphs"), []
    draw = module._draw_all
    monkeypatch.setattr(module, "_draw_all", lambda *args: calls.append(1) or draw(*args))
    return calls


def kept(folder):
    (path,) = folder.iterdir()
    return path


def test_the_second_call_reads_what_the_first_one_wrote(tmp_path, drawn):
    first, second = (glyphs(**SMALL, cache=tmp_path) for _ in range(2))
    assert len(drawn) == 1
    assert np.array_equal(first.images, second.images)
    assert np.array_equal(first.y, second.y)
    assert (first.classes, first.faces, first.split) == (second.classes, second.faces, second.split)


@pytest.mark.parametrize("where", [0, 31, 32, 200, -200, -1])
def test_a_damaged_file_is_drawn_again(tmp_path, drawn, where):
    good = glyphs(**SMALL, cache=tmp_path).images
    content = bytearray(kept(tmp_path).read_bytes())
    content[where] ^= 4
    kept(tmp_path).write_bytes(content)
    assert np.array_equal(glyphs(**SMALL, cache=tmp_path).images, good)
    glyphs(**SMALL, cache=tmp_path)
    assert len(drawn) == 2


@pytest.mark.parametrize("size", [0, 10, 500])
def test_a_file_cut_short_is_drawn_again(tmp_path, drawn, size):
    glyphs(**SMALL, cache=tmp_path)
    kept(tmp_path).write_bytes(kept(tmp_path).read_bytes()[:size])
    glyphs(**SMALL, cache=tmp_path)
    assert len(drawn) == 2


@pytest.mark.parametrize("change", [{"n_classes": 3}, {"n_per_class": 3}, {"size": 9}, {"random_state": 1}])
def test_other_settings_have_another_file(tmp_path, drawn, change):
    glyphs(**SMALL, cache=tmp_path)
    glyphs(**{**SMALL, **change}, cache=tmp_path)
    assert len(drawn) == 2


def test_no_cache_leaves_no_file(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    glyphs(**SMALL, cache=False)
    assert list(tmp_path.iterdir()) == []


def test_the_users_folder_follows_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    glyphs(**SMALL)
    assert kept(tmp_path / "manyclass").is_file()


def test_a_home_that_cannot_be_written_costs_only_time(tmp_path, monkeypatch):
    (tmp_path / "manyclass").write_text("a file where the folder should be")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert len(glyphs(**SMALL)) == 4


def test_a_user_without_a_home_has_no_cache(monkeypatch):
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.setattr("os.getuid", lambda: 2**31 - 7)  # one that no list of users has
    assert cache.user_folder() is None
    assert len(glyphs(**SMALL)) == 4


def test_a_folder_that_the_user_named_must_work(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(OSError, match="file"):
        glyphs(**SMALL, cache=tmp_path / "file")


def test_an_interrupted_write_leaves_nothing(tmp_path, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(files, "replace_file", interrupt)
    with pytest.raises(KeyboardInterrupt):
        cache.save_glyphs(tmp_path / "x.cache", {"a": np.arange(3)})
    assert list(tmp_path.iterdir()) == []
