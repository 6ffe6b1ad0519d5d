"""Whether an evaluation is on rows that made the model."""

from typing import Any

_USES = {"train": "it was trained on", "validation": "its settings or its epochs were chosen by"}


def seen_rows(run: dict[str, Any], data: dict[str, Any]) -> str | None:
    """A sentence if a run has used some of the data of an evaluation; None if nothing is known of that.

    Rows are the same by their fingerprint, or if a run took a part of a file and all of it is judged.

    >>> train = {"role": "train", "path": "x.store", "part": "train", "fingerprint": "a1"}
    >>> seen_rows({"data": [train]}, {"path": "x.store", "part": "all", "fingerprint": "b2"})
    'some of these rows are what it was trained on'
    >>> seen_rows({"data": [train]}, {"path": "x.store", "part": "test", "fingerprint": "c3"})
    """
    for used in run["data"]:
        words = _USES.get(used.get("role") or "")
        if words is None:
            continue
        if used.get("fingerprint") and used["fingerprint"] == data.get("fingerprint"):
            return f"these rows are what {words}"
        if used.get("path") and used["path"] == data.get("path") and data.get("part") == "all":
            return f"some of these rows are what {words}"
    return None
