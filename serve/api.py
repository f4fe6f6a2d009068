"""The judge over HTTP: ``POST /v1/judge`` for one pair or a list, health, metrics and an OpenAPI page."""

from __future__ import annotations

import asyncio
import os
import time
from typing import Annotated, Any

from fastapi import FastAPI, HTTPException, Request, Response
from fastapi.exceptions import RequestValidationError
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Counter, Histogram, generate_latest
from pydantic import Field
from ray import serve
from ray.exceptions import RayError
from ray.serve.exceptions import BackPressureError
from starlette.responses import JSONResponse, PlainTextResponse

from excam.judge_card import JudgeCard
from excam.judgement import JudgeFailure, Judgement
from serve.deployment import judge_deployment
from serve.guard import Guard, token_in
from serve.living import died
from serve.schemas import MAX_PAIRS, JudgedOut, PairIn, outcome_of
from serve.settings import JudgeSettings

CALL_PAIRS = 16
CALL_TIMEOUT = 120.0
RETRY_AFTER = "5"
MAX_PROBLEMS = 20
MAX_NAME = 100
LATE_RETRY_AFTER = "60"  # a judge that is late has too much to do already

Pairs = PairIn | Annotated[list[PairIn], Field(min_length=1, max_length=MAX_PAIRS)]


def build_api(judge: Any, card: JudgeCard, token: str | None) -> FastAPI:
    """The HTTP application around a handle to the judge."""
    app = FastAPI(
        title="ExCAM judge",
        version="1",
        description="Finds cultural errors in an instruction and the text generated for it.",
    )
    app.add_middleware(Guard, token=token)
    app.add_exception_handler(RequestValidationError, _without_the_body)
    registry = CollectorRegistry()
    pairs_total = Counter("excam_http_pairs", "Pairs judged over HTTP, by outcome.", ["outcome"], registry=registry)
    seconds = Histogram("excam_http_seconds", "Seconds from request to answer.", registry=registry)

    async def ask(pairs: list[PairIn]) -> list[Judgement | JudgeFailure]:
        call = judge.judge_batch.remote([(pair.instruction, pair.output) for pair in pairs])
        answers: list[Judgement | JudgeFailure] = await asyncio.wait_for(call, CALL_TIMEOUT)
        return answers

    @app.post("/v1/judge", responses={400: {}, 401: {}, 408: {}, 413: {}, 429: {}, 503: {}})
    async def judge_pairs(body: Pairs) -> JudgedOut:
        """Judge one pair or up to 256 of them; the outcomes come in the same order."""
        pairs = body if isinstance(body, list) else [body]
        begun = time.monotonic()
        chunks = [pairs[start : start + CALL_PAIRS] for start in range(0, len(pairs), CALL_PAIRS)]
        try:
            answered = await asyncio.gather(*(ask(chunk) for chunk in chunks))
        except BackPressureError as error:
            raise HTTPException(429, "the judge is busy", {"Retry-After": RETRY_AFTER}) from error
        except RayError as error:
            if not died(error):
                raise
            raise HTTPException(503, "the judge is restarting", {"Retry-After": RETRY_AFTER}) from error
        except TimeoutError as error:
            late = f"the judge did not answer within {CALL_TIMEOUT:g} s: send fewer pairs at once, or come back later"
            raise HTTPException(503, late, {"Retry-After": LATE_RETRY_AFTER}) from error
        answers = [answer for chunk in answered for answer in chunk]
        outcomes = await asyncio.to_thread(  # looking for words in megabytes takes seconds
            lambda: [outcome_of(pair, answer) for pair, answer in zip(pairs, answers, strict=True)]
        )
        for answer in answers:
            pairs_total.labels(answer.status.value if isinstance(answer, Judgement) else answer.reason).inc()
        seconds.observe(time.monotonic() - begun)
        return JudgedOut(judge_version=card.judge_version, tuned=card.tuned, outcomes=outcomes)

    @app.get("/v1/judge")
    async def judge_info() -> dict[str, Any]:
        """Who judges: base, adapter, prompt and decoding, and the version that their hash makes."""
        return {"judge_version": card.judge_version, "tuned": card.tuned, **card.model_dump(mode="json")}

    @app.get("/-/health")
    async def health() -> dict[str, str]:
        return {"status": "ok"}

    @app.get("/metrics", response_class=PlainTextResponse)
    async def metrics() -> Response:
        return Response(generate_latest(registry), media_type=CONTENT_TYPE_LATEST)

    return app


def _without_the_body(request: Request, error: Exception) -> Response:
    """What is wrong with a body first of all, without giving it back: it may be 8 MB, and need not be text."""
    assert isinstance(error, RequestValidationError)
    wrong = [
        {
            "loc": [step[:MAX_NAME] if isinstance(step, str) else step for step in problem["loc"]],
            "msg": problem["msg"],
            "type": problem["type"],
        }
        for problem in error.errors()[:MAX_PROBLEMS]
    ]
    return JSONResponse({"detail": wrong}, 422)


@serve.ingress()
class Api:
    """The HTTP face as a deployment; its token comes from the environment, where secrets belong."""

    def __init__(self, judge: Any, card: JudgeCard) -> None:
        self._judge = judge
        self._card = card

    def __serve_build_asgi_app__(self) -> FastAPI:
        return build_api(self._judge, self._card, token_in(os.environ))


def api_application(settings: JudgeSettings, card: JudgeCard) -> Any:
    """The HTTP face and the judge behind it as one Serve application."""
    face = serve.deployment(name="Api", max_ongoing_requests=64, ray_actor_options={"num_cpus": 0.1})(Api)
    return face.bind(judge_deployment(settings), card)
