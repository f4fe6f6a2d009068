"""prometheus-eval with its asynchronous LiteLLM client and an absolute rubric, as its README shows. Stands alone."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

os.environ.update(OPENAI_API_KEY="none", LITELLM_LOCAL_MODEL_COST_MAP="True")

from prometheus_eval import PrometheusEval
from prometheus_eval.litellm import AsyncLiteLLM
from prometheus_eval.prompts import ABSOLUTE_PROMPT_WO_REF, SCORE_RUBRIC_TEMPLATE

RUBRIC = SCORE_RUBRIC_TEMPLATE.format(
    criteria="Is the answer right about the culture it speaks of?",
    score1_description="It is wrong throughout.",
    score2_description="It has a grave error.",
    score3_description="It has a slight error.",
    score4_description="It is right but vague.",
    score5_description="It is right.",
)


def main(source: Path, out: Path, url: str) -> None:
    pairs = [json.loads(line) for line in source.open()]
    model = AsyncLiteLLM("openai/judge", requests_per_minute=100_000, api_base=url)
    judge = PrometheusEval(model=model, absolute_grade_template=ABSOLUTE_PROMPT_WO_REF)
    print("judging")
    begun = time.monotonic()
    _, scores = judge.absolute_grade(
        instructions=[instruction for instruction, _ in pairs],
        responses=[output for _, output in pairs],
        rubric=RUBRIC,
        params={"max_tokens": 256, "temperature": 0.0},
    )
    seconds = time.monotonic() - begun
    judged = sum(score is not None for score in scores)
    out.write_text(json.dumps({"judged": judged, "failed": len(pairs) - judged, "seconds": seconds}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])
