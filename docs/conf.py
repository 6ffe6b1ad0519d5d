"""Sphinx: the pages of docs/, a reference made from docstrings, and a gallery of the scripts of examples/."""

import sys
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS / "extensions"))

import command_reference  # noqa: E402
import inherited_members  # noqa: E402
import linked_names  # noqa: E402
import root_pages  # noqa: E402
from numpydoc import xref  # noqa: E402

import manyclass  # noqa: E402

project = "manyclass"
author = "The manyclass developers"
copyright = f"2026, {author}"
version = release = manyclass.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["templates", "gallery/*.ipynb", "gallery/*.py"]
templates_path = ["templates"]
# A name in single backticks is linked if it is ours.
default_role = "py:obj"
smartquotes = False
highlight_language = "none"

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "none"
autosummary_generate = True
# The templates list the members.
numpydoc_show_class_members = False
# Of the types of parameters, our own names are links; those of Python and NumPy would have to be fetched.
xref.DEFAULT_LINKS.clear()
numpydoc_xref_param_type = True
numpydoc_xref_aliases = linked_names.TYPES
numpydoc_xref_ignore = "all"

# The problems of examples are so small that threads would mostly wait for one another.
manyclass.set_threads(1)
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "show_memory": False,
    "write_computation_times": False,
    "abort_on_example_error": True,
}

html_theme = "furo"
html_title = "manyclass"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_sourcelink = False


def setup(app: Any) -> None:
    """Members that are ours alone; pages made of files beside docs/, of their neighbors, or of the commands."""
    app.connect("autodoc-skip-member", inherited_members.skip)
    app.connect("source-read", root_pages.read)
    app.connect("source-read", command_reference.read)
    app.connect("env-get-outdated", command_reference.outdated)
    app.connect("doctree-read", linked_names.link)
    app.connect("missing-reference", linked_names.resolve)
