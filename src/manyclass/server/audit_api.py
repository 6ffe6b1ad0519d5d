"""The audit over HTTP: wrong labels, near-duplicates and outliers, and what people decide of them."""

from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field

from manyclass.audit.near_duplicates import THRESHOLD
from manyclass.server.answers import BODY, JobAnswer, PictureAnswer, SaidAnswer, refusals
from manyclass.server.app import ApiError
from manyclass.server.desks.audit_desk import AuditDesk
from manyclass.server.label_api import MOST_IDS, LabelText, LineOfText, PictureId, Start, desk_of, said_answer

if TYPE_CHECKING:
    from manyclass.server.app import ServerState

AuditCheck = Literal["labels", "duplicates", "outliers"]

RuleName = Literal["largest", "oldest", "first"]

Decision = Literal["keep", "fix", "set_aside"]

Count = Annotated[int, Query(ge=0, le=200, description="How many to show.")]


class AuditRequest(BaseModel):
    """What to look for."""

    model_config = ConfigDict(extra="forbid", strict=True)

    checks: list[AuditCheck] = Field(
        ["labels", "duplicates", "outliers"], min_length=1, max_length=3, description="What to look for."
    )
    threshold: float = Field(THRESHOLD, gt=0, le=1, description="The least cosine of near-duplicates.")


class AuditStarted(BaseModel):
    """An audit that runs."""

    job: JobAnswer = Field(description="How far it is; events of /api/events tell more.")


class AuditCounts(BaseModel):
    """How many of each were found; null for what was not looked for."""

    labels: int | None = Field(None, description="Labels that are likely wrong.")
    duplicates: int | None = Field(None, description="Groups of near-duplicates.")
    outliers: int | None = Field(None, description="Pictures that are unlike the rest.")


class AuditAnswer(BaseModel):
    """What is known of the audit."""

    state: Literal["none", "running", "done", "failed"] = Field(description="Whether there is one.")
    job: JobAnswer | None = Field(description="The one that was begun last, since the server was started.")
    counts: AuditCounts = Field(description="What the last one that is done has found.")
    notes: list[str] = Field(description="What is to be said about it, in a sentence each.")
    time: str | None = Field(description="When it was done: ISO 8601, UTC.")
    checks: list[AuditCheck] = Field(description="What was looked for.")
    threshold: float | None = Field(description="The least cosine of near-duplicates.")


class ClassSuspects(BaseModel):
    """How many labels of a class are suspected."""

    name: str = Field(description="The class.")
    suspects: int = Field(description="How many of its pictures are suspected.")


class SuspectAnswer(BaseModel):
    """A label that is likely wrong."""

    picture: PictureAnswer = Field(description="The picture.")
    given: str = Field(description="The label that it had when the audit began.")
    proposed: str = Field(description="The class that it should be of, as all other pictures say.")
    probability: float = Field(description="How likely the label is wrong.")
    near_given: list[PictureAnswer] = Field(description="The two pictures of the given class that are most alike.")
    near_proposed: list[PictureAnswer] = Field(description="The same of the proposed class.")
    decision: Decision | None = Field(description="What a person decided.")


class SuspectsAnswer(BaseModel):
    """Labels that are likely wrong."""

    total: int = Field(description="How many there are, of the class that was asked for.")
    classes: list[ClassSuspects] = Field(description="All classes with suspects, those with the most first.")
    suspects: list[SuspectAnswer] = Field(description="The most suspicious first.")


class CopyAnswer(PictureAnswer):
    """A picture of a group of near-duplicates, with what is known of its file."""

    width: int | None = Field(description="Pixels; null if they are not known.")
    height: int | None = Field(description="Pixels; null if they are not known.")
    bytes: int | None = Field(description="Size of the file.")
    modified: str | None = Field(description="When the file was changed last: ISO 8601, UTC.")


class GroupAnswer(BaseModel):
    """Pictures that are nearly the same."""

    pictures: list[CopyAnswer] = Field(description="The pictures.")
    similarity: float = Field(description="The least cosine of the pairs that make them one group.")
    keeper: str = Field(description="The id of the one to keep, by the rule.")


class GroupsAnswer(BaseModel):
    """Groups of near-duplicates."""

    total: int = Field(description="How many groups there are.")
    groups: list[GroupAnswer] = Field(description="Groups, the most alike first.")


class OutlierAnswer(BaseModel):
    """A picture that is unlike the rest of its class, or of all without classes."""

    picture: PictureAnswer = Field(description="The picture.")
    distance: float = Field(description="1 less the cosine to the fifth nearest picture.")
    percentile: float = Field(description="The percentage of pictures that are nearer to the rest.")
    decision: Decision | None = Field(description="What a person decided.")


class OutliersAnswer(BaseModel):
    """Pictures that are unlike the rest."""

    total: int = Field(description="How many there are.")
    outliers: list[OutlierAnswer] = Field(description="The farthest first.")


class DecisionRequest(BaseModel):
    """What is to become of suspected pictures; a label is given to fix them, and only then."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        json_schema_extra={
            "if": {"properties": {"decision": {"const": "fix"}}},
            "then": {"properties": {"label": {"type": "string"}}, "required": ["label"]},
            "else": {"properties": {"label": {"type": "null"}}},
        },
    )

    ids: list[PictureId] = Field(min_length=1, max_length=MOST_IDS, description="The pictures, by id.")
    decision: Decision = Field(description="Keep as they are and suspect no more, give another label, or set aside.")
    label: LabelText | None = Field(None, description="The right label, for fix alone.")
    proposed: LabelText | None = Field(None, description="The label that the audit proposed.")
    who: LineOfText = Field("", description="Who decides.")


def router(state: "ServerState") -> APIRouter:
    """The routes of the audit. What an earlier server found is there as soon as there is a collection."""

    def open_desk(collection: Any) -> None:
        state.audits = AuditDesk(state.desk, state.jobs)

    def audits() -> AuditDesk:
        state.ready()
        desk: AuditDesk = state.audits
        return desk

    state.when_ready(open_desk)
    routes = APIRouter()

    @routes.post("/api/audit", summary="Begin an audit", responses=refusals(409, *BODY, 503))
    def begin(request: AuditRequest) -> AuditStarted:
        """Look for wrong labels, near-duplicates and outliers, in the background."""
        return AuditStarted(job=JobAnswer(**audits().start(request.checks, request.threshold).json()))

    @routes.get("/api/audit", summary="How the audit stands", responses=refusals(503))
    def status() -> AuditAnswer:
        """Whether an audit runs, and what the last one found."""
        return AuditAnswer(**audits().status())

    @routes.get("/api/audit/labels", summary="Labels that are likely wrong", responses=refusals(409, 503))
    def suspects(
        class_: Annotated[str, Query(alias="class", max_length=500, description="Of this class; empty for all.")] = "",
        start: Start = 0,
        count: Count = 20,
    ) -> SuspectsAnswer:
        """The most suspicious first, each with the two nearest pictures of the given and of the proposed class."""
        return SuspectsAnswer(**audits().suspects(class_, start, count))

    @routes.get("/api/audit/duplicates", summary="Near-duplicates in groups", responses=refusals(409, 503))
    def duplicates(
        rule: Annotated[
            RuleName, Query(description="Which one to keep: the largest, the oldest, the first.")
        ] = "largest",
        folder: Annotated[
            str, Query(max_length=4096, description="With first: pictures of this folder before all.")
        ] = "",
        start: Start = 0,
        count: Count = 20,
    ) -> GroupsAnswer:
        """Groups of pictures that are nearly the same, and which of each to keep. Nothing is ever deleted."""
        return GroupsAnswer(**audits().duplicates(rule, folder, start, count))

    @routes.get("/api/audit/outliers", summary="Pictures that are unlike the rest", responses=refusals(409, 503))
    def outliers(start: Start = 0, count: Count = 20) -> OutliersAnswer:
        """The farthest from the rest of their class first."""
        return OutliersAnswer(**audits().outliers(start, count))

    @routes.post("/api/audit/decisions", summary="Decide", responses=refusals(400, 404, *BODY, 503, 507))
    def decide(request: DecisionRequest) -> SaidAnswer:
        """Keep, fix or set aside what the audit suspects. The answer comes when it is on disk."""
        fixes = request.decision == "fix"
        if fixes != (request.label is not None):
            rule = "must be given to fix pictures" if fixes else f"is for fix alone; got it with {request.decision}"
            raise ApiError(400, f"`label` {rule}")
        action = "label" if fixes else request.decision
        about = request.model_dump(include={"ids", "label", "proposed", "who"})
        return said_answer(desk_of(state), **about, action=action, source="audit")

    return routes
