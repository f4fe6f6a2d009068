"""Pages one reads rather than glances at: a report with its errors in place, comparisons, runs and dead letters."""

from __future__ import annotations

import json
from typing import Annotated

from fastapi import APIRouter, Form, HTTPException, Query, Request
from starlette.responses import RedirectResponse, Response

from excam.store.queries.compare import Comparison, Side, choices
from excam.store.queries.judges import judge_names
from excam.store.queries.show import ShownPair, ShownVerdict
from excam.store.reviews import Opinion
from serve.dashboard.api import rates, records, reports, reviews
from serve.dashboard.filters import Chosen, Filters
from serve.dashboard.login import inside
from serve.dashboard.marks import LONGEST, pieces
from serve.dashboard.pages import render
from serve.dashboard.place import root_of
from serve.dashboard.source import StoreSource
from serve.dashboard.state import Id, Source

router = APIRouter(include_in_schema=False)

Name = Annotated[str | None, Query(max_length=300)]
LETTERS = 50


@router.get("/report")
def report(request: Request, source: Source, filters: Chosen, id: str) -> Response:
    pair = reports.get_report(request, source, id)
    verdict = _verdict(source, filters, pair)
    errors = verdict.errors if verdict else []
    return render(
        request,
        "report.html",
        filters=filters,
        pair=pair,
        verdict=verdict,
        instruction=pieces(pair.instruction, "instruction", errors),
        output=pieces(pair.output, "output", errors),
        cut=max(len(pair.instruction), len(pair.output)) > LONGEST,
        longest=LONGEST,
        raw=json.dumps(pair.model_dump(mode="json"), ensure_ascii=False, indent=2)[:LONGEST],
        names=source.remember(judge_names),
        reviews=reviews.get_reviews(source, pair.pair_id, verdict.judge_version) if verdict else [],
        person=request.state.person,
    )


def _verdict(source: StoreSource, filters: Filters, pair: ShownPair) -> ShownVerdict | None:
    """What the judge of the view says of the pair, as lists that lead here do; any judge, where none is chosen."""
    judge = rates.judge_of(source, filters).judge_version
    found = next((verdict for verdict in pair.verdicts if verdict.judge_version == judge), None)
    return found or (next(iter(pair.verdicts), None) if filters.judge is None else None)


@router.post("/review")
def review(
    request: Request,
    source: Source,
    pair_id: Annotated[Id, Form()],
    judge_version: Annotated[Id, Form()],
    opinion: Annotated[Opinion, Form()],
    comment: Annotated[str, Form(max_length=reviews.LONGEST_COMMENT)] = "",
    back: Annotated[str, Form()] = "",
) -> Response:
    new = reviews.NewReview(pair_id=pair_id, judge_version=judge_version, opinion=opinion, comment=comment)
    reviews.keep_review(request, source, new)
    return RedirectResponse(f"{inside(back, root_of(request))}#reviews", 303)


@router.get("/compare")
def compare(
    request: Request, source: Source, filters: Chosen, side: Side = Side.MODEL, a: Name = None, b: Name = None
) -> Response:
    options = _options(source, filters, side)
    first = a or (options[0] if options else "")
    second = b or next((name for name in options if name != first), "")
    found: Comparison | None = rates.get_compare(source, filters, first, second, side) if first and second else None
    return render(
        request,
        "compare.html",
        page="/compare",
        filters=filters,
        side=side.value,
        options=options,
        a=first,
        b=second,
        found=found,
        names=source.remember(judge_names) if side is Side.JUDGE else {},
        kept={name: value for name, value in filters.chosen.items() if name not in ("since", "until", side.value)},
    )


def _options(source: StoreSource, filters: Filters, side: Side) -> list[str]:
    if side is Side.JUDGE:
        return [use.judge_version for use in records.get_judges(source)]
    return source.ask(choices, filters.judge)[side.value]


@router.get("/runs")
def runs(request: Request, source: Source, filters: Chosen, offset: records.Offset = 0) -> Response:
    return render(
        request,
        "runs.html",
        page="/runs",
        filters=filters,
        runs=records.get_runs(source),
        letters=records.get_dead_letters(request, source, limit=LETTERS, offset=offset),
        offset=offset,
        limit=LETTERS,
        names=source.remember(judge_names),
        person=request.state.person,
    )


@router.get("/dead-letter")
def dead_letter(request: Request, source: Source, id: str) -> Response:
    if not id:
        raise HTTPException(404, "no dead letter is named")
    return render(
        request, "dead_letter.html", letter=records.get_dead_letter(request, source, id), person=request.state.person
    )


@router.post("/replay")
def replay(request: Request, source: Source, id: Annotated[str, Form(max_length=100)] = "") -> Response:
    """The button of one dead letter, or without an id the one for all of them."""
    records.keep_replay(request, source, [id] if id else None)
    return RedirectResponse(f"{root_of(request)}/runs#dead-letters", 303)
