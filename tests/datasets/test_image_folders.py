import os
from pathlib import Path

import pytest

from manyclass.datasets import read_images


@pytest.fixture
def tree(tmp_path):
    """tree(names) makes empty files of these names below a new folder; a dict gives their text."""

    def make(names):
        root = tmp_path / "root"
        for name in names:
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(names[name] if isinstance(names, dict) else "")
        return root

    return make


def test_a_plain_folder_has_no_labels(tree):
    root = tree(["b.jpg", "a.png", "notes"])
    images = read_images(root)
    assert images.names == ["a.png", "b.jpg", "notes"]
    assert images.paths == [str(root / name) for name in images.names]
    assert (images.y, images.split, images.notices) == (None, None, ())


def test_a_folder_per_class(tree):
    images = read_images(tree(["dogs/1.jpg", "cats/old/2.jpg", "cats/1.jpg"]))
    assert images.names == ["cats/1.jpg", "cats/old/2.jpg", "dogs/1.jpg"]
    assert images.y.tolist() == ["cats", "cats", "dogs"]
    assert len(images) == 3


def test_one_folder_alone_is_a_class_too(tree):
    assert read_images(tree(["cats/1.jpg", "cats/2.jpg"])).y.tolist() == ["cats", "cats"]


def test_caltech_is_below_a_folder_of_its_own_with_a_readme_beside(tree):
    names = ["101_ObjectCategories/ant/image_0001.jpg", "101_ObjectCategories/bee/image_0001.jpg", "README"]
    images = read_images(tree(names))
    assert images.names == names[:2]
    assert images.y.tolist() == ["ant", "bee"]


def test_imagenet_has_parts_and_in_them_classes(tree):
    images = read_images(tree(["train/n01/1.JPEG", "train/n02/2.JPEG", "val/n01/3.JPEG", "LOC_synset_mapping.txt"]))
    assert images.y.tolist() == ["n01", "n02", "n01"]
    assert images.split.tolist() == ["train", "train", "val"]


@pytest.mark.parametrize(("folder", "part"), [("training", "train"), ("valid", "val"), ("validation", "val")])
def test_parts_have_several_names(tree, folder, part):
    images = read_images(tree([f"{folder}/a/1.jpg", "test/a/2.jpg"]))
    assert images.split.tolist() == ["test", part][:: -1 if folder < "test" else 1]


def test_parts_without_classes(tree):
    images = read_images(tree(["train/1.jpg", "test/2.jpg"]))
    assert (images.y, images.split.tolist()) == (None, ["test", "train"])


def test_tiny_imagenet_keeps_the_labels_of_its_val_in_a_table(tree):
    images = read_images(
        tree(
            {
                "tiny/train/n01/images/n01_0.JPEG": "",
                "tiny/train/n01/n01_boxes.txt": "",
                "tiny/val/images/val_0.JPEG": "",
                "tiny/val/images/val_1.JPEG": "",
                "tiny/val/val_annotations.txt": "val_0.JPEG\tn02\t0\t0\t9\t9\nval_1.JPEG\tn01\t0\t0\t9\t9\n",
            }
        )
    )
    by_name = dict(zip([os.path.basename(name) for name in images.names], images.y.tolist(), strict=True))
    assert by_name == {"n01_0.JPEG": "n01", "n01_boxes.txt": "n01", "val_0.JPEG": "n02", "val_1.JPEG": "n01"}


@pytest.mark.parametrize("above", ["", "unpacked/", "un/packed/"])
@pytest.mark.parametrize("prefix", ["", "images/"])
def test_lists_beside_the_folders_tell_the_parts(tree, prefix, above):
    root = tree(
        {
            f"{above}images/a/1.jpg": "",
            f"{above}images/b/2.jpg": "",
            f"{above}train.txt": f"{prefix}b/2.jpg\n",
            f"{above}test.txt": f"{prefix}a/1.jpg\r\n",
        }
    )
    images = read_images(root)
    assert images.names == [f"{above}images/a/1.jpg", f"{above}images/b/2.jpg"]
    assert images.split.tolist() == ["test", "train"]
    assert images.y.tolist() == ["a", "b"]


def test_lists_of_only_some_are_left_out_with_a_notice(tree):
    images = read_images(tree({"a/1.jpg": "", "b/2.jpg": "", "train.txt": "b/2.jpg"}))
    assert images.split is None
    assert images.notices == ("only some images have parts, and a/1.jpg has none; parts are left out",)


def test_pictures_in_no_class_cost_all_their_labels_and_one_is_named(tree):
    images = read_images(tree(["cats/1.jpg", "2.jpg"]))
    assert images.y is None
    assert images.notices == ("only some images have labels, and 2.jpg has none; labels are left out",)


@pytest.mark.parametrize(
    ("text", "labels", "split"),
    [
        ("path,label\nimg/a.jpg,cat\nb.jpg,dog\n", ["cat", "dog"], None),
        ("img/a.jpg,cat\nb.jpg,dog\n", ["cat", "dog"], None),
        ("label,split,filename\n7,train,img/a.jpg\n9,test,b.jpg\n", ["7", "9"], ["train", "test"]),
    ],
)
def test_a_table_names_pictures_below_its_own_folder(tree, text, labels, split):
    root = tree({"list.csv": text})
    images = read_images(root / "list.csv")
    assert images.names == ["img/a.jpg", "b.jpg"]
    assert images.paths == [str(root / "img/a.jpg"), str(root / "b.jpg")]
    assert images.y.tolist() == labels
    assert (None if images.split is None else images.split.tolist()) == split


def test_a_table_may_name_paths_in_full(tree):
    assert read_images(tree({"x.csv": "/data/a.jpg,cat\n"}) / "x.csv").paths == ["/data/a.jpg"]


@pytest.mark.parametrize(
    ("text", "words"), [("cat\ndog\n", "must have a column of paths"), ("path,label\n", "at least one image")]
)
def test_tables_that_name_no_pictures_are_refused(tree, text, words):
    with pytest.raises(ValueError, match=words):
        read_images(tree({"x.csv": text}) / "x.csv")


def test_hidden_files_are_left_out(tree):
    assert read_images(tree([".DS_Store", "cats/._1.jpg", "cats/1.jpg", ".git/x"])).names == ["cats/1.jpg"]


def test_links_are_followed_once(tree, tmp_path):
    root = tree(["cats/1.jpg"])
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "2.jpg").write_text("")
    (root / "dogs").symlink_to(tmp_path / "far")
    (root / "cats" / "up").symlink_to(root)
    images = read_images(root)
    assert images.names == ["cats/1.jpg", "cats/up", "dogs/2.jpg"]
    assert images.y.tolist() == ["cats", "cats", "dogs"]


@pytest.mark.parametrize("link", ["0", "z"])
def test_a_folder_is_read_by_its_own_name_whatever_links_to_it_are_called(tree, link):
    root = tree(["cats/1.jpg", "cats/old/2.jpg", "dogs/3.jpg"])
    (root / link).symlink_to("cats")
    (root / "dogs" / link).symlink_to("../cats/old")
    images = read_images(root)
    assert images.names == sorted(["cats/1.jpg", "cats/old/2.jpg", "dogs/3.jpg", f"dogs/{link}"])
    assert set(images.y) == {"cats", "dogs"}


def test_of_two_links_to_a_folder_the_first_by_name_is_followed(tree, tmp_path):
    root = tree(["cats/1.jpg"])
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "2.jpg").write_text("")
    for link in ("z", "b", "d"):
        (root / link).symlink_to(tmp_path / "far")
    assert read_images(root).names == ["b/2.jpg", "cats/1.jpg"]


@pytest.mark.parametrize("place", ["x", "cats/x"])
def test_a_store_among_the_pictures_is_left_out(tree, place):
    names = ["cats/1.jpg", "cats/x.jpg", "x.jpg"]
    root = tree([*names, f"{place}/X-0.npy", f"{place}.encoder", f"{place}.encoder.json", f"{place}.skipped.jsonl"])
    assert read_images(root, root / place).names == names


def test_names_that_are_no_text_come_back_as_they_are(tree):
    root = tree(["cats/1.jpg"])
    raw = os.fsencode(root) + b"/d\xf6gs"
    os.mkdir(raw)
    with open(raw + b"/\xff.jpg", "wb"):
        pass
    images = read_images(root)
    assert [os.fsencode(name) for name in images.names] == [b"cats/1.jpg", b"d\xf6gs/\xff.jpg"]
    assert os.path.exists(images.paths[1])


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_closed_folder_is_told(tree):
    root = tree(["cats/1.jpg", "dogs/1.jpg"])
    (root / "dogs").chmod(0)
    images = read_images(root)
    assert "dogs cannot be listed: Permission denied; it is left out" in images.notices[0]


def test_nothing_at_all_is_refused(tree, tmp_path):
    with pytest.raises(FileNotFoundError):
        read_images(tmp_path / "nothing")
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match="must hold at least one image"):
        read_images(tmp_path / "empty")


def test_folders_in_two_spellings_are_one_class_and_their_files_open(tmp_path):
    for folder in ("caf\u00e9", "cafe\u0301", "tea"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "1.jpg").write_bytes(b"x")
    found = read_images(tmp_path)
    assert sorted(set(found.y.tolist())) == ["caf\u00e9", "tea"]
    assert [Path(path).read_bytes() for path in found.paths] == [b"x"] * 3


@pytest.mark.parametrize("labels", [["cat", "", "dog"], ["0", "", "1"]])
def test_an_image_without_a_label_in_a_table_stays_without(tmp_path, labels):
    (tmp_path / "t.csv").write_text("path,label\n" + "".join(f"{i}.jpg,{label}\n" for i, label in enumerate(labels)))
    assert read_images(tmp_path / "t.csv").y.tolist() == labels
