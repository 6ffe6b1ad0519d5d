"""Shapes of what is answered over HTTP, as its description has them: a picture, an event, an error, a job."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field


class ErrorAnswer(BaseModel):
    """Why a request was refused."""

    error: str = Field(description="One sentence: what was wrong, and the way out.")


def refusals(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """What a route says of the errors that it may answer.

    >>> refusals(404)[404]["description"]
    'what was named is not there'
    """
    return {status: {"model": ErrorAnswer, "description": _REASONS[status]} for status in (*statuses, 422)}


BODY = (400, 408, 413, 415)  # of whatever takes a body

_REASONS = {
    400: "what was asked for breaks a rule, or is no text",
    404: "what was named is not there",
    408: "the body came too slowly",
    409: "this cannot be done now, as things stand",
    413: "too much was sent",
    415: "the body is not JSON",
    422: "the request is not of the shape that is described",
    503: "the server cannot do it just now, such as before the pictures are ready",
    507: "the disk is full, and nothing was changed",
}


class PictureAnswer(BaseModel):
    """One picture of the collection."""

    model_config = ConfigDict(extra="allow", populate_by_name=True)

    id: str = Field(description="What the picture is known by.")
    number: int = Field(description="Its position in the collection, from 0.")
    name: str = Field(description="The last part of the id.")
    folder: str = Field(description="The rest of the id; empty if there is none.")
    class_: str | None = Field(alias="class", description="The class that the picture came with.")
    label: str | None = Field(description="What a person said here.")
    set_aside: bool = Field(description="Whether a person set it aside.")
    url: str = Field(description="Where its thumbnail is.")


class JobAnswer(BaseModel):
    """One piece of long work."""

    model_config = ConfigDict(extra="allow")

    id: str = Field(description="The number of the job.")
    kind: str = Field(description="What is done, such as audit.")
    title: str = Field(description="What is being done just now, in words.")
    done: int = Field(description="How much is done.")
    total: int = Field(description="How much there is to do; 0 if that is not known yet.")
    unit: str = Field(description="What is counted.")
    rate: float = Field(description="How many are done in a second.")
    seconds_left: float | None = Field(description="Seconds that are left, if they can be told.")
    state: Literal["running", "done", "failed"] = Field(description="Whether it goes on, is done, or has failed.")
    error: str | None = Field(description="Why it failed, in one sentence.")


class LabelEventAnswer(BaseModel):
    """One thing that somebody said."""

    number: int = Field(description="Events are counted from 1.")
    time: str = Field(description="When it was said: ISO 8601, UTC.")
    who: str = Field(description="Who said it; may be empty.")
    action: Literal["label", "set_aside", "keep", "undo"] = Field(description="What was done.")
    ids: list[str] = Field(description="The pictures.")
    label: str | None = Field(description="The label; null takes the label away.")
    proposed: str | None = Field(description="The label that was proposed then.")
    source: str = Field(description="Where it was said, such as label or audit.")
    undoes: int | None = Field(description="Of an undo: the number of the event that it takes back.")
    undone: bool = Field(description="Whether it is taken back.")


class SaidAnswer(BaseModel):
    """What was taken down; it is on disk."""

    event: int = Field(description="The number of the event.")
    ids: list[str] = Field(description="The pictures, each once.")
    label: str | None = Field(description="The label, in its one spelling.")
    labeled: int = Field(description="How many pictures have a label of a person now.")
