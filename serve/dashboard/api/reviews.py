"""``/api/reviews``: readers say whether a report is right, if they may."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field

from excam.store.reviews import Agreement, Opinion, Review, add_review, agreement, reviews_of
from serve.dashboard.access import reviewing
from serve.dashboard.api.rates import seen
from serve.dashboard.filters import Chosen
from serve.dashboard.source import StoreSource
from serve.dashboard.state import Id, Source

router = APIRouter(prefix="/api", tags=["reviews"])

LONGEST_COMMENT = 2000


class NewReview(BaseModel):
    """What a reader says; who it is comes from the token."""

    pair_id: Id
    judge_version: Id
    opinion: Opinion
    comment: str = Field("", max_length=LONGEST_COMMENT)


@router.get("/reviews")
def get_reviews(source: Source, pair_id: str, judge_version: Annotated[str, Query()]) -> list[Review]:
    """Everybody's last opinion of one report."""
    return source.ask(reviews_of, pair_id, judge_version)


@router.get("/agreement")
def get_agreement(source: Source, filters: Chosen) -> Agreement:
    """How far readers agree with the judge on the errors of a view."""
    return source.glance(agreement, seen(source, filters))


@router.post("/reviews", status_code=201)
def post_review(request: Request, source: Source, review: NewReview) -> list[Review]:
    """Say whether a report is right; a later opinion of the same reader replaces the first."""
    return keep_review(request, source, review)


def keep_review(request: Request, source: StoreSource, review: NewReview) -> list[Review]:
    person = reviewing(request.state.person)
    source.write(add_review, review.pair_id, review.judge_version, review.opinion, review.comment.strip(), person.name)
    return source.ask(reviews_of, review.pair_id, review.judge_version)
