"""What may lie where a file is looked for, and cannot be read."""

import os
from pathlib import Path


def link_to_itself(path: Path) -> None:
    path.symlink_to(path.name)


def link_to_nothing(path: Path) -> None:
    path.symlink_to("nothing")


def link_to_a_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def pipe(path: Path) -> None:
    os.mkfifo(path)


def folder(path: Path) -> None:
    path.mkdir()


PUT = (link_to_itself, link_to_nothing, link_to_a_device, pipe, folder)
