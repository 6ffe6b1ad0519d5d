"""Names of classes, functions and commands lead to where they are described, wherever a page mentions them.

In guides `mc.Gallery`, `TraceNormPath(traces=4)` and `manyclass train` are code that becomes a link; in docstrings a
public name is found from every module, and the types of parameters are links too.
"""

import re
from pathlib import Path
from typing import Any

API = Path(__file__).parents[1] / "api.rst"
NAMES = frozenset(re.findall(r"^   ([\w.]+)$", API.read_text(encoding="utf-8"), re.MULTILINE))
LAST = {name.rpartition(".")[2]: name for name in sorted(NAMES, key=lambda name: -name.count("."))}
# How numpydoc finds the names in the types of parameters.
TYPES = {last: f"manyclass.{name}" for last, name in LAST.items() if last[0].isupper()}
CODE = re.compile(r"(mc\.)?([A-Za-z][\w.]*?)(\(.*\))?")


def public_name(code: str) -> str | None:
    """The name in the reference that a piece of code is or calls; lower case needs `mc.`, as `load` is a word too.

    >>> public_name("mc.runs.train"), public_name("TraceNormPath(traces=4)"), public_name("Hits"), public_name("load")
    ('runs.train', 'TraceNormPath', 'retrieval.Hits', None)
    """
    found = CODE.fullmatch(code)
    if not found:
        return None
    if found[2] in NAMES and (found[1] or found[2][0].isupper()):
        return found[2]
    return LAST.get(found[2]) if found[2][0].isupper() else None


def command_name(code: str) -> str | None:
    """The command that a piece of code gives.

    >>> command_name("manyclass train run --seed 1"), command_name("manyclass demo"), command_name("manyclass --help")
    ('train', 'demo', None)
    """
    found = re.match(r"manyclass ([a-z]+)\b", code)
    return found[1] if found else None


def link(app: Any, doctree: Any) -> None:
    """Sphinx's event `doctree-read`: code of a page that names something becomes a link to it."""
    from docutils import nodes
    from sphinx import addnodes

    page = app.env.docname
    for literal in list(doctree.findall(nodes.literal)):
        if isinstance(literal.parent, nodes.reference | nodes.title | addnodes.pending_xref) or page.startswith("api/"):
            continue
        code = literal.astext()
        if name := public_name(code):
            kind = {"refdomain": "py", "reftype": "obj", "reftarget": f"manyclass.{name}"}
        elif (command := command_name(code)) and page != "commands":
            kind = {"refdomain": "std", "reftype": "ref", "reftarget": f"command-{command}"}
        else:
            continue
        reference = addnodes.pending_xref("", refdoc=page, refexplicit=True, refwarn=True, **kind)
        literal.replace_self(reference)
        reference += literal


def resolve(app: Any, env: Any, node: Any, content: Any) -> Any:
    """Sphinx's event `missing-reference`: a public name that a docstring of another module mentions."""
    name = public_name(node.get("reftarget", "").removeprefix("manyclass."))
    if node.get("refdomain") != "py" or name is None:
        return None
    target = f"manyclass.{name}"
    if node["reftarget"] == target:
        return None
    domain = env.get_domain("py")
    return domain.resolve_xref(env, node["refdoc"], app.builder, "obj", target, node, content)
