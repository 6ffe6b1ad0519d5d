import pytest

from manyclass.estimators.heads.taxonomy_files import parents_of_paths, read_parents


def written(tmp_path, text):
    path = tmp_path / "tree.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_children_and_parents_are_read_wherever_their_columns_are(tmp_path):
    path = written(tmp_path, '\ufeffrank,Parent,child\nspecies,tree,"oak, red"\n\nfamily,,tree\n')
    assert read_parents(path) == {"oak, red": "tree", "tree": ""}


def test_a_line_may_come_twice(tmp_path):
    assert read_parents(written(tmp_path, "child,parent\na,b\na,b\n")) == {"a": "b"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "must begin with a line that names the columns child and parent"),
        ("a,b\nc,d\n", "must begin with a line that names the columns child and parent"),
        ("child,parent\n", "must have a line for each child"),
        ("child,parent\na\n", "in every line; line 2 lacks one"),
        ("child,parent\n,b\n", "in every line; line 2 lacks one"),
        ("child,parent\na,b\na,c\n", "one parent for each child; line 3 gives 'a' the parent 'c' besides 'b'"),
        (b"child,parent\n\xff,b\n", "must be text in UTF-8; byte 13 is not"),
        ("child,parent\na," + "b" * 70_000 + "\n", "names of at most 65536 letters; see line 2"),
    ],
)
def test_files_that_are_none_are_told_in_a_sentence(tmp_path, text, message):
    with pytest.raises(ValueError, match=message):
        read_parents(written(tmp_path, text))


def test_a_path_ends_in_its_class():
    assert parents_of_paths(["a/b/c", "a/b", "d"]) == {"a/b/c": "a/b", "a/b": "a", "a": None, "d": None}
    assert parents_of_paths(["a; b"], "; ") == {"a; b": "a", "a": None}


@pytest.mark.parametrize("path", ["a//b", "/a", "a/", "", 7])
def test_empty_steps_are_refused(path):
    with pytest.raises(ValueError, match="label paths must be text"):
        parents_of_paths([path])


def test_a_separator_is_some_text():
    with pytest.raises(ValueError, match="separator"):
        parents_of_paths(["a/b"], "")
