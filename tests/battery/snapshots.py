"""What a folder holds, and the same without what may differ between two runs: times, and numbers of commits."""

import json
import os
import re
import stat
from pathlib import Path
from typing import Any

Snapshot = dict[str, Any]  # by path: the bytes of a file, None for a folder, words for anything else

# Times, and sizes of what times stand in; memory, numbers of commits, and the words of the command, which are others
# when a run is gone on with.
_VOLATILE = {
    "arguments", "bytes", "fit_seconds", "images_per_second", "judging_seconds", "peak_bytes", "predict_seconds",
    "rows_per_second", "seconds", "serial", "started",
}  # fmt: skip

_MANIFESTS = ("manifest.json", "run.json")  # what names the files beside it

_NUMBERED = re.compile(r"(\w+)-(\d+)(\.npy|\.safetensors|\.jsonl?)")


def snapshot(folder: Path) -> Snapshot:
    """Everything below a folder."""
    found: Snapshot = {}
    for base, folders, files in os.walk(folder):
        for name in [*folders, *files]:
            path = Path(base) / name
            found[str(path.relative_to(folder))] = _content(path)
    return found


def _content(path: Path) -> bytes | str | None:
    mode = path.lstat().st_mode
    if stat.S_ISREG(mode):
        return path.read_bytes()
    return None if stat.S_ISDIR(mode) else f"no file, but of mode {mode:o}"


def holds(found: Snapshot, wanted: Snapshot) -> bool:
    """Whether all that is wanted is there, whatever else is."""
    return all(name in found and found[name] == content for name, content in wanted.items())


def comparable(found: Snapshot) -> Snapshot:
    """Records without times, and files that are numbered by commits numbered anew from 0.

    Failed commits may use up numbers, and which ones is nobody's business.
    """
    found = dict(found)
    for name in [name for name in found if os.path.basename(name) in _MANIFESTS]:
        _renumber(found, name)
    return {name: _record(content) if name.endswith(".json") else content for name, content in found.items()}


def _renumber(found: Snapshot, manifest: str) -> None:
    content = found[manifest]
    if not isinstance(content, bytes):
        return
    text, folder = content.decode(errors="surrogateescape"), os.path.dirname(manifest)
    used = sorted({int(number) for _, number, _ in _NUMBERED.findall(text)})
    places = {number: place for place, number in enumerate(used)}

    def renumbered(name: re.Match[str]) -> str:
        return f"{name[1]}-{places.get(int(name[2]), name[2])}{name[3]}"

    for name in [name for name in found if os.path.dirname(name) == folder]:
        new = _NUMBERED.sub(renumbered, os.path.basename(name))
        found[os.path.join(folder, new)] = found.pop(name)
    found[manifest] = _NUMBERED.sub(renumbered, text).encode(errors="surrogateescape")


def _record(content: Any) -> Any:
    try:
        value = json.loads(content)
    except (ValueError, TypeError, RecursionError):
        return content
    # Without its seal, which is of times and numbers too.
    sealed = value if isinstance(value, dict) else {"content": value}
    return plain({name: one for name, one in sealed.items() if name != "sha256"})


def plain(value: Any) -> Any:
    """JSON without times and numbers of commits."""
    if isinstance(value, list):
        return [plain(one) for one in value]
    if not isinstance(value, dict):
        return value
    # The digest of a record, such as a manifest may hold, is of its times.
    volatile = _VOLATILE | {"sha256"} if str(value.get("name")).endswith(".json") else _VOLATILE
    return {name: plain(one) for name, one in value.items() if name not in volatile}


def difference(found: Snapshot, wanted: Snapshot) -> str:
    """In which files two folders differ, in words."""
    more, less = sorted(found.keys() - wanted.keys()), sorted(wanted.keys() - found.keys())
    other = sorted(name for name in found.keys() & wanted.keys() if found[name] != wanted[name])
    words = [("left over", more), ("missing", less), ("different", other)]
    return "; ".join(f"{word}: {', '.join(names[:4])}" for word, names in words if names)
