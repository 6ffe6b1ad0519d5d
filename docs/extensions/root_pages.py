"""Pages whose text lives elsewhere in the repository, and the lists of pages that belong to an overview.

Both read well without Sphinx: the pages of docs/ lead to the files at the root, and overviews hold no directives.
"""

import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
AT_THE_ROOT = {"architecture": "ARCHITECTURE.md", "contributing": "CONTRIBUTING.md", "changelog": "CHANGELOG.md"}
OVERVIEWS = ("benchmarks/index", "results/index")


def read(app: Any, page: str, source: list[str]) -> None:
    """Sphinx's event `source-read`: give a page its text, or an overview the list of its neighbors."""
    if page in AT_THE_ROOT:
        source[0] = seen_from_docs((ROOT / AT_THE_ROOT[page]).read_text(encoding="utf-8"))
    elif page in OVERVIEWS:
        source[0] += "\n```{toctree}\n:hidden:\n:glob:\n\n*\n```\n"


def seen_from_docs(text: str) -> str:
    """Links of a file at the root as links of a page in docs/; those to what is no page lose their target.

    >>> seen_from_docs("[store](docs/formats.md), [plan](ARCHITECTURE.md), [terms](LICENSE)")
    '[store](formats.md), [plan](architecture.md), terms'
    """
    for page, name in AT_THE_ROOT.items():
        text = text.replace(f"]({name})", f"]({page}.md)")
    text = text.replace("](docs/", "](")
    return re.sub(r"\[([^\]]*)\]\(LICENSE\)", r"\1", text)
