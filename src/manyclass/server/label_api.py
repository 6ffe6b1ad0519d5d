"""Labels over HTTP: giving them, taking them back, which picture is next, and the names of classes."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

from manyclass.runs.labeling import LabelEvent, check_label
from manyclass.server.answers import BODY, LabelEventAnswer, PictureAnswer, SaidAnswer, refusals
from manyclass.server.app import ApiError
from manyclass.server.desks.labeling_desk import LabelingDesk

if TYPE_CHECKING:
    from manyclass.server.app import ServerState

MOST_IDS, MOST_CHOICES, MOST_EXCLUDED, MOST_LISTED = 10_000, 100, 1000, 1000

N_PROPOSALS = 5

PictureId = Annotated[str, Field(min_length=1, max_length=4096)]

# What the description says of texts; `check_label` refuses others in words, as no pattern does.
_LETTER, _SEEN = r"[^\x00-\x1f\x7f-\x9f\u2028\u2029]", r"[^\s\x00-\x1f\x7f-\x9f\u2028\u2029]"

_LONGEST = 500

LineOfText = Annotated[
    str,
    Field(max_length=_LONGEST),
    WithJsonSchema({"type": "string", "maxLength": _LONGEST, "pattern": f"^{_LETTER}*$"}),
]

LabelText = Annotated[
    str,
    Field(max_length=_LONGEST),
    WithJsonSchema({"type": "string", "maxLength": _LONGEST, "pattern": f"^{_LETTER}*{_SEEN}{_LETTER}*$"}),
]

ChoiceName = Literal["mixed", "uncertain", "typical", "rare", "wrong"]

Start = Annotated[int, Query(ge=0, le=2**31, description="How many to pass over.")]


Listed = Annotated[int, Query(ge=0, le=MOST_LISTED, description="How many to tell.")]


def _no_other_kind(value: Any) -> Any:
    if isinstance(value, bool | str):
        raise ValueError("a whole number")
    return value


# 7.0 is a whole number to JSON, whereas true and "7" are none.
EventNumber = Annotated[int, Field(strict=False, ge=1, le=2**53), BeforeValidator(_no_other_kind)]


class LabelRequest(BaseModel):
    """What somebody says of some pictures; those that are set aside get no label."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        json_schema_extra={
            "if": {"properties": {"action": {"const": "set_aside"}}, "required": ["action"]},
            "then": {"properties": {"label": {"type": "null"}}},
        },
    )

    ids: list[PictureId] = Field(min_length=1, max_length=MOST_IDS, description="The pictures, by id.")
    label: LabelText | None = Field(None, description="The label, one line of text; null takes the label away.")
    action: Literal["label", "set_aside"] = Field("label", description="Whether to label them or to set them aside.")
    proposed: LabelText | None = Field(None, description="The label that was proposed, so that it can be judged later.")
    source: Literal["", "find", "label", "audit", "bulk"] = Field("", description="Where in the page it was said.")
    who: LineOfText = Field("", description="Who says it.")


class UndoRequest(BaseModel):
    """Whose last word is to be taken back."""

    model_config = ConfigDict(extra="forbid", strict=True)

    who: LineOfText = Field("", description="The person; empty for whoever gives no name.")
    event: EventNumber | None = Field(None, description="This very event; asked for twice, it is taken back once.")


class UndoAnswer(BaseModel):
    """What was taken back."""

    undone: LabelEventAnswer | None = Field(description="The event that no longer holds; null if there was none.")
    labeled: int = Field(description="How many pictures have a label of a person now.")


class EventsAnswer(BaseModel):
    """What people said."""

    total: int = Field(description="How many events there are.")
    events: list[LabelEventAnswer] = Field(description="Events, the newest first.")


class CurvePointAnswer(BaseModel):
    """How good the classifier was after so many labels."""

    model_config = ConfigDict(extra="allow")

    labels: int = Field(description="How many labels there were.")
    accuracy: float = Field(description="How often it was right, judged on labels that it had not learned from.")
    low: float = Field(description="The lower end of the 95 % interval.")
    high: float = Field(description="The upper end of it.")


class LabelingAnswer(BaseModel):
    """How far labeling is."""

    labeled: int = Field(description="Pictures that have a label of a person.")
    classes: int = Field(description="Classes that people use.")
    set_aside: int = Field(description="Pictures that are set aside.")
    training: bool = Field(description="Whether a classifier is being learned, or about to be.")
    trained_on: int = Field(description="Labels that it has learned from so far.")
    curve: list[CurvePointAnswer] = Field(description="Accuracy against labels.")
    last_gain: str = Field(description="What the last labels brought, in words; empty if that is not known.")
    problem: str = Field(description="What went wrong with learning or with the file of labels; mostly empty.")


class ProposalAnswer(BaseModel):
    """A class that a picture may be of."""

    label: str = Field(description="The class.")
    probability: float = Field(description="How likely it is.")


class ProposalsAnswer(BaseModel):
    """What a picture may be."""

    proposals: list[ProposalAnswer] = Field(
        description="The likeliest classes, best first; none if nothing is learned."
    )


class ChoiceAnswer(ProposalsAnswer):
    """A picture to label next."""

    picture: PictureAnswer = Field(description="The picture.")
    reason: str = Field(description="Why it is next: uncertain, typical, rare, wrong or random.")
    words: str = Field(description="The same in words.")


class ChoicesAnswer(BaseModel):
    """Pictures to label next."""

    choices: list[ChoiceAnswer] = Field(description="Pictures, the one to ask for first.")


class ClassAnswer(BaseModel):
    """A class."""

    name: str = Field(description="Its name.")
    given: int = Field(description="Pictures that came with it.")
    labeled: int = Field(description="Pictures that people labeled so.")


class ClassesAnswer(BaseModel):
    """Classes that fit a text."""

    total: int = Field(description="How many fit.")
    classes: list[ClassAnswer] = Field(description="The best of them, best first.")


def router(state: "ServerState") -> APIRouter:
    """The routes of labels. The desk is made as soon as there is a collection."""

    def open_desk(collection: Any) -> None:
        desk = LabelingDesk(collection, state.events.publish)
        state.desk = desk
        state.on_close(desk.close)

    state.when_ready(open_desk)
    routes = APIRouter()
    _add_labels(routes, state)
    _add_labeling(routes, state)
    return routes


def _add_labels(routes: APIRouter, state: "ServerState") -> None:
    @routes.post("/api/labels", summary="Label pictures", responses=refusals(400, 404, *BODY, 503, 507))
    def label(request: LabelRequest) -> SaidAnswer:
        """Label pictures, take their label away, or set them aside. The answer comes when it is on disk."""
        return said_answer(desk_of(state), **request.model_dump())

    @routes.post("/api/labels/undo", summary="Take back the last word", responses=refusals(400, *BODY, 503, 507))
    def undo(request: UndoRequest) -> UndoAnswer:
        """Take back the last thing that a person said and that holds yet. The answer comes when it is on disk."""
        desk = desk_of(state)
        event = desk.undo(check_label(request.who, "who", may_be_empty=True), request.event)
        return UndoAnswer(undone=event and event_answer(event, desk), labeled=len(desk.log))

    @routes.get("/api/labels", summary="All that was said", responses=refusals(503))
    def labels(start: Start = 0, count: Listed = 50) -> EventsAnswer:
        """What people said, the newest first, with what is taken back."""
        desk = desk_of(state)
        events = desk.log.events()[::-1]
        shown = [event_answer(event, desk) for event in events[start : start + count]]
        return EventsAnswer(total=len(events), events=shown)

    @routes.get("/api/classes", summary="Names of classes", responses=refusals(503))
    def classes(
        text: Annotated[str, Query(max_length=200, description="What somebody typed.")] = "",
        count: Listed = 50,
    ) -> ClassesAnswer:
        """Classes that fit a text: what begins so, then what has it within, then what is nearly so."""
        found = desk_of(state).classes(text)
        return ClassesAnswer(total=len(found), classes=[ClassAnswer(**one) for one in found[:count]])


def _add_labeling(routes: APIRouter, state: "ServerState") -> None:
    @routes.get("/api/labeling", summary="How far labeling is", responses=refusals(503))
    def labeling() -> LabelingAnswer:
        """How many labels there are, and how good the classifier is that learns from them."""
        return LabelingAnswer(**desk_of(state).state())

    @routes.get("/api/labeling/next", summary="Which picture to label next", responses=refusals(400, 404, 503))
    def next_pictures(
        by: Annotated[ChoiceName, Query(description="How to choose.")] = "mixed",
        count: Annotated[int, Query(ge=1, le=MOST_CHOICES, description="How many.")] = 1,
        exclude: Annotated[
            list[PictureId], Query(max_length=MOST_EXCLUDED, description="Not these pictures, by id.")
        ] = [],  # noqa: B006
    ) -> ChoicesAnswer:
        """Pictures that teach the most, each with its reason and with what it may be."""
        desk = desk_of(state)
        for one in exclude:
            desk.number(one)
        with _asking(state):
            choices = desk.session.next(by, count, exclude)
            proposals = desk.session.proposals([choice.position for choice in choices], N_PROPOSALS)
        return ChoicesAnswer(
            choices=[
                ChoiceAnswer(
                    picture=PictureAnswer(**desk.picture(choice.position)),
                    reason=choice.reason,
                    words=choice.words,
                    proposals=[ProposalAnswer(**asdict(one)) for one in those],
                )
                for choice, those in zip(choices, proposals, strict=True)
            ]
        )

    @routes.get("/api/labeling/proposals", summary="What a picture may be", responses=refusals(404, 503))
    def proposals(id: Annotated[PictureId, Query(description="The picture.")]) -> ProposalsAnswer:
        """The likeliest classes of one picture."""
        desk = desk_of(state)
        number = desk.number(id)
        with _asking(state):
            found = desk.session.proposals([number], N_PROPOSALS)[0]
        return ProposalsAnswer(proposals=[ProposalAnswer(**asdict(one)) for one in found])


@contextmanager
def _asking(state: "ServerState") -> Iterator[None]:
    """Ask what learns. The first answer after it learned may take seconds, for which not all threads may wait."""
    desk = desk_of(state)
    if not desk.askers.acquire(blocking=False):
        raise ApiError(503, "too many ask at once what to label next; ask again in a moment", {"Retry-After": "1"})
    try:
        yield
    finally:
        desk.askers.release()


def desk_of(state: "ServerState") -> LabelingDesk:
    """The labeling desk; 503 as long as there is no collection."""
    state.ready()
    desk: LabelingDesk = state.desk
    return desk


def said_answer(desk: LabelingDesk, **what: Any) -> SaidAnswer:
    """Take down what somebody says, and answer that it is on disk."""
    event = desk.say(**what)
    return SaidAnswer(event=event.number, ids=list(event.ids), label=event.label, labeled=len(desk.log))


def event_answer(event: LabelEvent, desk: LabelingDesk) -> LabelEventAnswer:
    """An event as it is answered."""
    return LabelEventAnswer(**{**asdict(event), "ids": list(event.ids)}, undone=desk.log.is_undone(event.number))
