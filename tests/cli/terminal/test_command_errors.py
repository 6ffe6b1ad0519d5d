"""Errors as sentences about options."""

import errno
import os

import pytest
import typer

from manyclass._core.errors import SettingsError
from manyclass._core.files import TEMPORARY_SUFFIX
from manyclass.cli.terminal.command_errors import option_words, report_errors, sentence


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("`n_words` does not go with `kind='model.onnx'`", "--n-words does not go with --kind model.onnx"),
        ("leave out `early_stopping=False`", "leave out --no-early-stopping"),
        ("pass `overwrite=True` to replace it", "add --overwrite to replace it"),
        ("choose other rows with `subset`", "choose other rows with --part"),
        ("nothing to change", "nothing to change"),
    ],
)
def test_arguments_in_backquotes_are_options(words, said):
    assert option_words(words) == said


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (
            OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)),
            "the disk is full; make room and give the same command again",
        ),
        (PermissionError(errno.EACCES, "Permission denied", f"x{TEMPORARY_SUFFIX}"), "x: permission denied"),
        (ValueError("x; pass resume=False to begin again"), "x; add --restart to begin again"),
        (ValueError("g is there; use update_gallery to add to it"), "g is there; --add to add to it"),
        (MemoryError(), "there is not enough memory (nothing more is known); try fewer rows with --sample"),
        (IndexError(), "IndexError"),
    ],
)
def test_an_error_is_one_sentence(error, said):
    assert sentence(error) == said


def test_settings_that_do_not_go_together_are_wrong_usage():
    @report_errors("nothing was changed")
    def command():
        raise SettingsError("`rank` does not go with `method='lda'`")

    with pytest.raises(typer.BadParameter, match=r"^--rank does not go with --method lda$") as error:
        command()
    assert error.value.exit_code == 2
