"""AuditDesk: the audit of a collection: it is begun, kept in memory and in the home folder, and shown a page at a time.

What takes a look at files (sizes, dates) or a search (the nearest pictures of a class) is done for what is shown alone.
"""

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from manyclass._core.errors import StorageError
from manyclass._core.parallel import get_threads, threads
from manyclass._core.text import pluralize
from manyclass.data.dense import DenseMatrix
from manyclass.server.app import ApiError
from manyclass.server.desks.collection_audit import (
    CollectionAudit,
    NearCopies,
    Suspect,
    audit_collection,
    is_affordable,
)
from manyclass.server.desks.labeling_desk import LabelingDesk, NotWrittenError

if TYPE_CHECKING:
    from manyclass.server.jobs import Job, Jobs

AUDIT_FILE = "audit.json"

_NEAREST = 2  # pictures of a class that stand beside a suspect

_LOG = logging.getLogger("manyclass.server")


class AuditDesk:
    """The last audit of a collection, and the one that runs. Any number of threads may use it."""

    def __init__(self, desk: LabelingDesk, jobs: "Jobs"):
        self.desk, self.collection = desk, desk.collection
        self._jobs, self._lock = jobs, threading.Lock()
        self._job: Job | None = None
        self._settings: tuple[Any, ...] = ()
        self._notes: list[str] = []
        self._audit = self._read()
        # What people said when classes were numbered, the numbers, and those of all pictures.
        self._codes: tuple[dict[str, str], dict[str | None, int], NDArray[np.int32]] | None = None

    def start(self, checks: Sequence[str], threshold: float) -> "Job":
        """Begin an audit; the one that runs, if it is the same."""
        self.desk.log  # noqa: B018 - the error of a file that cannot be read is to come here
        settings = (sorted(set(checks)), threshold)
        with self._lock:
            if self._job is not None and self._job.state == "running":
                if settings != self._settings:
                    raise ApiError(409, "an audit of other things is under way; wait until it is done")
                return self._job
            self._settings = settings
            self._job = self._jobs.start("audit", lambda job: self._run(job, checks, threshold), "beginning the audit")
            return self._job

    def audit(self) -> CollectionAudit:
        """The last audit; 409 if there is none."""
        if self._audit is None:
            raise ApiError(409, "there was no audit yet; start one first")
        return self._audit

    def status(self) -> dict[str, Any]:
        """As GET /api/audit tells it."""
        job, audit = self._job, self._audit
        known = "none" if audit is None else "done"
        return {
            "state": known if job is None or job.state == "done" else job.state,
            "job": job and job.json(),
            "counts": {} if audit is None else audit.counts(),
            "notes": [*self._notes, *([] if audit is None else [*audit.notes, *self._since(audit)])],
            "time": audit and audit.time,
            "checks": [] if audit is None else audit.checks,
            "threshold": audit and audit.threshold,
        }

    def suspects(self, name: str, start: int, count: int) -> dict[str, Any]:
        """Suspected labels of a class, or of all, with pictures of the given and the proposed class beside them."""
        found = self.audit().suspects or []
        classes: dict[str, int] = {}
        for one in found:
            classes[one.given] = classes.get(one.given, 0) + 1
        ranked = sorted(classes, key=lambda name: (-classes[name], name))
        chosen = [one for one in found if name in ("", one.given)]
        return {
            "total": len(chosen),
            "classes": [{"name": name, "suspects": classes[name]} for name in ranked],
            "suspects": [self._suspect(one) for one in chosen[start : start + count]],
        }

    def duplicates(self, rule: str, folder: str, start: int, count: int) -> dict[str, Any]:
        """Groups of near-duplicates, with the one of each to keep."""
        found = self.audit().copies or []
        groups = [self.group(one, rule, folder) for one in found[start : start + count]]
        return {"total": len(found), "groups": groups}

    def outliers(self, start: int, count: int) -> dict[str, Any]:
        """Pictures that are far from the rest."""
        found = self.audit().far or []
        shown = [
            {
                "picture": self.desk.picture(one.number),
                "distance": one.distance,
                "percentile": one.percentile,
                "decision": self._decision(one.number, None),
            }
            for one in found[start : start + count]
        ]
        return {"total": len(found), "outliers": shown}

    def group(self, copies: NearCopies, rule: str, folder: str) -> dict[str, Any]:
        """A group of near-duplicates, with what is known of the files, and the one to keep by a rule."""
        pictures = [{**self.desk.picture(number), **self._file(number)} for number in copies.numbers]
        keeper = min(pictures, key=lambda picture: _KEYS[rule](picture, folder))
        return {"pictures": pictures, "similarity": copies.similarity, "keeper": keeper["id"]}

    def _run(self, job: "Job", checks: Sequence[str], threshold: float) -> None:
        about, notes = self.collection, []
        said, event = self.desk.said(), self.desk.log.last_number
        X = about.X
        if not is_affordable(X):
            X = DenseMatrix(about.embeddings(np.arange(len(about.ids))))
            notes.append("there is too little memory for the features, so that embeddings were looked at")
        settings: dict[str, Any] = {"checks": checks, "threshold": threshold, "event": event, "notes": notes}
        with threads(max(1, get_threads() - 1)):  # one is left to those who ask
            audit = audit_collection(
                X, about.ids, self.desk.labels_now(), said.set_aside, said.kept, **settings, progress=job.stage
            )
        self._audit, self._notes = audit, []
        try:
            audit.save(about.home / AUDIT_FILE)
        except StorageError as error:
            _LOG.warning("the audit is not kept: %s", error)
            self._notes = ["the audit could not be written, and will be gone when the server ends"]

    def _read(self) -> CollectionAudit | None:
        """The audit in the home folder, if it is of these pictures."""
        path = self.collection.home / AUDIT_FILE
        try:
            return CollectionAudit.read(path, self.collection.ids) if path.exists() else None
        except (ValueError, OSError) as error:
            self._notes = [f"an earlier audit is not shown, as {error}; audit again"]
            return None

    def _since(self, audit: CollectionAudit) -> list[str]:
        """A sentence where people said something since that was no answer to the audit."""
        try:
            events = self.desk.log.events()
        except NotWrittenError as error:
            return [str(error)]
        new = sum(event.number > audit.event and event.source != "audit" for event in events)
        if not new:
            return []
        return [f"labels have changed since this audit, {pluralize(new, 'time')}; audit again to take that in"]

    def _suspect(self, one: Suspect) -> dict[str, Any]:
        return {
            "picture": self.desk.picture(one.number),
            "given": one.given,
            "proposed": one.proposed,
            "probability": one.probability,
            "near_given": self._nearest(one.number, one.given),
            "near_proposed": self._nearest(one.number, one.proposed),
            "decision": self._decision(one.number, one.given),
        }

    def _nearest(self, number: int, name: str) -> list[dict[str, Any]]:
        """The pictures of a class that are most alike."""
        members = self._members(name)
        others = int(members.sum()) - bool(members[number])
        if not others:
            return []
        about = self.collection
        hits = about.gallery.search_ids([about.raw_ids[number]], k=min(_NEAREST, others), where=members)
        return [self.desk.picture(one) for one in about.numbers(hits.ids[0].tolist())]

    def _members(self, name: str) -> NDArray[np.bool_]:
        """Which pictures are of a class; classes are numbered anew when people have said something."""
        labels, known = self.desk.said().labels, self._codes
        if known is None or known[0] is not labels:
            numbers: dict[str | None, int] = {}
            codes = [numbers.setdefault(label, len(numbers)) for label in self.desk.labels_now()]
            self._codes = known = (labels, numbers, np.array(codes, np.int32))
        return np.equal(known[2], known[1].get(name, -1))

    def _file(self, number: int) -> dict[str, Any]:
        """What is known of the file of a picture, looked at now."""
        return asdict(self.collection.pictures.stat(number))

    def _decision(self, number: int, given: str | None) -> str | None:
        """What was decided of a picture."""
        said, one = self.desk.said(), self.collection.ids[number]
        if one in said.set_aside:
            return "set_aside"
        if one in said.kept:
            return "keep"
        now = said.labels.get(one)
        return "fix" if given is not None and now is not None and now != given else None


def _largest(picture: Mapping[str, Any], folder: str) -> tuple[Any, ...]:
    return -(picture["width"] or 0) * (picture["height"] or 0), -(picture["bytes"] or 0), picture["number"]


def _oldest(picture: Mapping[str, Any], folder: str) -> tuple[Any, ...]:
    return picture["modified"] is None, picture["modified"] or "", picture["number"]


def _first(picture: Mapping[str, Any], folder: str) -> tuple[Any, ...]:
    return not f"{picture['folder']}/".startswith(f"{folder}/"), picture["number"]


# By what pictures of a group are ordered; the first of them is kept.
_KEYS: dict[str, Callable[[Mapping[str, Any], str], tuple[Any, ...]]] = {
    "largest": _largest,
    "oldest": _oldest,
    "first": _first,
}
