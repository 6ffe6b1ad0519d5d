"""Docstrings of the house as reStructuredText.

They are plain text: paragraphs, code in single backticks, examples after `>>>`, and sections underlined by dashes, in
which entries read `name : what it is`. Stars, bars and underscores are mathematics and names, and are shown as such.
"""

import re
from collections.abc import Iterator
from typing import Any

import manyclass

_ENTRY = re.compile(r"(\w[\w, ]*?) : (.*)")
_SECTION = re.compile(r"-{3,}")


def process(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Sphinx's event `autodoc-process-docstring`: change the lines in place."""
    lines[:] = list(converted(lines))


def skip(app: Any, what: str, name: str, obj: Any, skipped: bool, options: Any) -> bool | None:
    """Sphinx's event `autodoc-skip-member`: what scikit-learn adds to our classes is described there."""
    home = getattr(obj, "__module__", None) or getattr(getattr(obj, "fget", None), "__module__", None)
    return True if home and not home.startswith("manyclass") else None


def converted(lines: list[str]) -> Iterator[str]:
    """The lines of one docstring, with every mark that reStructuredText would read turned into plain text.

    >>> list(converted(["The rows of `coef_`: W_jl * |x|."]))
    ['The rows of ``coef_``: W\\\\_jl \\\\* \\\\|x\\\\|.']
    """
    example, section = False, ""
    for i, line in enumerate(lines):
        following = lines[i + 1].strip() if i + 1 < len(lines) else ""
        if _SECTION.fullmatch(line.strip()) and section:
            yield ""
        elif _SECTION.fullmatch(following):
            example, section = False, line.strip()
            yield f".. rubric:: {section}"
        else:
            example = line.lstrip().startswith(">>>") or (example and bool(line.strip()))
            yield from [line] if example else _prose(line, section)


def _prose(line: str, section: str) -> Iterator[str]:
    found = _ENTRY.fullmatch(line)
    if found and section == "Parameters":
        yield ""
        yield f"**{found[1]}**"
        line = f"    {found[2]}"
    yield "".join(_code(part) if i % 2 else _plain(part) for i, part in enumerate(line.split("`")))


def _code(text: str) -> str:
    return f":obj:`~manyclass.{text}`" if text in manyclass.__all__ else f"``{text}``"


def _plain(text: str) -> str:
    return re.sub(r"([\\*_|])", r"\\\1", text)
