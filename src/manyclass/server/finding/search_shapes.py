"""Shapes of what is asked and answered over HTTP about pictures and searches, as its description has them."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from manyclass.server.answers import PictureAnswer
from manyclass.server.finding.marked_search import MOST_HITS
from manyclass.server.finding.picture_filter import Condition

MOST_COUNT, MOST_WORD = 200, 4096  # pictures in one answer, letters of a word

_MOST_MARKS = 500

Word = Annotated[str, Field(max_length=MOST_WORD)]


class Ref(BaseModel):
    """A picture of the collection by its id, or one that was sent by its token."""

    model_config = ConfigDict(extra="forbid")

    id: Word | None = Field(None, description="The id of a picture of the collection.")
    query: Word | None = Field(None, description="The token of a picture that was sent.")

    @model_validator(mode="after")
    def one_of_both(self) -> "Ref":
        """Exactly one is given."""
        if (self.id is None) == (self.query is None):
            raise ValueError("a picture is named by its id or by the token of a query, and not by both")
        return self


class Where(BaseModel):
    """What must be true of what is found."""

    model_config = ConfigDict(populate_by_name=True, extra="forbid")

    class_: Word | None = Field(None, alias="class", description="Label by a person, or else the class it came with.")
    folder: Word | None = Field(None, description="A folder, with all below it.")
    text: Word | None = Field(None, description="A part of the id, whatever the case.")
    label: Word | None = Field(None, description="A label that a person gave.")

    def condition(self) -> Condition:
        """The same for a filter."""
        return Condition(self.class_, self.folder, self.text, self.label)


class SearchRequest(BaseModel):
    """What is wanted, what is not, and among what."""

    model_config = ConfigDict(extra="forbid")

    positives: list[Ref] = Field(min_length=1, max_length=_MOST_MARKS, description="Pictures of what is wanted.")
    negatives: list[Ref] = Field([], max_length=_MOST_MARKS, description="Pictures of what is not.")
    world: Word | None = Field(None, description="A key of the worlds of the collection; null for the default.")
    where: Where = Field(Where.model_validate({}), description="What must be true of what is found.")
    start: int = Field(0, ge=0, le=MOST_HITS, description="How many of the best are passed over.")
    count: int = Field(60, ge=1, le=MOST_COUNT, description="How many are given.")
    leave_out: bool = Field(True, description="Whether marked pictures are not among the hits.")


class CropRequest(BaseModel):
    """A part of a picture."""

    model_config = ConfigDict(extra="forbid")

    of: Ref = Field(description="The picture.")
    box: tuple[float, float, float, float] = Field(
        description="Left, top, right, bottom: fractions of width and height."
    )

    @field_validator("box")
    @classmethod
    def inside(cls, box: tuple[float, float, float, float]) -> tuple[float, float, float, float]:
        """Within the picture, and with something in it."""
        x0, y0, x1, y1 = box
        if not (0 <= x0 < x1 <= 1 and 0 <= y0 < y1 <= 1):
            raise ValueError("0 <= left < right <= 1 and 0 <= top < bottom <= 1")
        return box


class QueryAnswer(BaseModel):
    """A picture that was sent, or cut."""

    query: str = Field(description="The token by which it is named from now on, as long as it is remembered.")
    url: str = Field(description="Where it is shown.")
    width: int = Field(description="Its width in pixels.")
    height: int = Field(description="Its height in pixels.")
    ms: dict[str, float] = Field(description="Milliseconds for decode, feature and encode.")


class PageAnswer(BaseModel):
    """Some pictures."""

    total: int = Field(description="How many there are in all.")
    start: int = Field(description="How many were passed over.")
    pictures: list[PictureAnswer] = Field(description="The pictures.")


class HitAnswer(PictureAnswer):
    """A picture that was found."""

    rank: int = Field(description="From 1.")
    score: float = Field(description="How alike it is; comparable within one search.")
    percentile: float | None = Field(description="How many percent of the world are less alike.")
    expected: float | None = Field(description="How many pictures would be as much alike by chance.")


class SearchAnswer(BaseModel):
    """What was found, and what it is worth."""

    hits: list[HitAnswer] = Field(description="The best first.")
    total: int = Field(description="How many pictures could be found.")
    start: int = Field(description="How many of the best were passed over.")
    line: int | None = Field(description="How many of the best are more alike than chance; null if nobody can say.")
    matched: bool | None = Field(description="Whether the best is; null if nobody can say.")
    p_value: float | None = Field(description="How likely a picture of something else would stand out as much.")
    words: str = Field(description="The same in one sentence.")
    world: str = Field(description="The key of the world that it was compared with.")
    ms: dict[str, float] = Field(description="Milliseconds for encode, search and total.")
    command: str = Field(description="The same as a line for a shell.")
    python: str = Field(description="The same as Python.")
