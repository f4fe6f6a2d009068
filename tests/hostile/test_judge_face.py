"""The judge over HTTP against its own OpenAPI description: whatever is sent, it answers as described, and no 5xx."""

from __future__ import annotations

from typing import Any

import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.specs.openapi.checks import allow_header_conformance

from excam.judge_card import JudgeCard
from excam.judgement import JudgeFailure, Judgement
from excam.report import CulturalError, ErrorReport, Location, Severity
from serve.api import build_api

CARD = JudgeCard(base="b", base_sha256="0" * 64, prompt_sha256="0" * 64, decoding={})


class Answering:
    """Stands where the handle to the judge is: this is about the face before it. It finds an error in every second."""

    class judge_batch:  # noqa: N801
        @staticmethod
        async def remote(pairs: list[tuple[str, str]]) -> list[Judgement | JudgeFailure]:
            return [
                found(*pair) if number % 2 else JudgeFailure("judge_error", "x") for number, pair in enumerate(pairs)
            ]


def found(instruction: str, output: str) -> Judgement:
    error = CulturalError(
        severity=Severity.MAJOR,
        type="t",
        location=Location.OUTPUT,
        span=output[:20],
        explanation=instruction[:20] or "e",
    )
    return Judgement.of(ErrorReport(errors=(error,)), 0.9, 0.5)


# Starlette names the methods of the first route on a path only, when another method is asked for.
FRAMEWORKS = [allow_header_conformance]

app = build_api(Answering(), CARD, None)
schema: Any = schemathesis.openapi.from_asgi("/openapi.json", app)


@schema.parametrize()  # type: ignore[untyped-decorator]
@settings(max_examples=20, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
def test_every_answer_is_one_that_the_description_names(case: Any) -> None:
    case.call_and_validate(excluded_checks=FRAMEWORKS, timeout=300)
