"""Links between the Markdown files of the repository lead somewhere."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BUILT = (ROOT / "docs" / "api", ROOT / "docs" / "gallery")
FILES = [
    path
    for pattern in ("*.md", "docs/**/*.md")
    for path in sorted(ROOT.glob(pattern))
    if not any(path.is_relative_to(folder) for folder in BUILT)
]
# A picture that is drawn from the report, and comes with it.
AWAITED = {ROOT / "docs" / "images" / "report.png"}


def links(text: str) -> list[str]:
    """Targets of links and pictures, outside of code, that lead to a file or a heading here."""
    text = re.sub(r"^```.*?^```$|`[^`\n]*`", "", text, flags=re.MULTILINE | re.DOTALL)
    return [target for target in re.findall(r"\]\(([^)\s]+)\)", text) if not re.match(r"\w+:", target)]


def anchors(text: str) -> set[str]:
    """What headings are called in links, as GitHub and the site have it."""
    headings = re.findall(r"^#+ (.*)$", text, flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def broken(path: Path) -> list[str]:
    found = []
    for target in links(path.read_text(encoding="utf-8")):
        name, _, anchor = target.partition("#")
        goal = (path.parent / name).resolve() if name else path
        missing = not goal.exists() and goal not in AWAITED
        if missing or (anchor and anchor not in anchors(goal.read_text(encoding="utf-8"))):
            found.append(target)
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(path):
    assert broken(path) == []


def test_links_that_lead_nowhere_are_noticed(tmp_path):
    (tmp_path / "b.md").write_text("# The first, and last\n")
    page = tmp_path / "a.md"
    page.write_text(
        "[good](b.md) [good](b.md#the-first-and-last) [bad](c.md) ![bad](d.png) [bad](b.md#second)\n"
        "[far](https://example.org/x) `[code](e.md)`\n\n```\n[code](f.md)\n```\n"
    )
    assert broken(page) == ["c.md", "d.png", "b.md#second"]


def test_every_page_of_the_site_is_in_its_tree():
    # Overviews list their neighbors by themselves; see docs/extensions/root_pages.py.
    text = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^[\w/]+$", "\n".join(re.findall(r"```\{toctree\}(.*?)```", text, re.DOTALL)), re.M))
    pages = {
        str(path.relative_to(ROOT / "docs").with_suffix("")) for path in FILES if path.is_relative_to(ROOT / "docs")
    }
    by_themselves = {page for page in pages if re.match("(benchmarks|results)/", page)} - {"benchmarks/index"}
    assert pages - by_themselves - {"index"} <= listed
    assert {"benchmarks/index", "results/index", "api", "gallery/index"} <= listed
