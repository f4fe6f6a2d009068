"""DeepEval's GEval with a local model and its own concurrency, as its documents show. Stands alone."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

os.environ.update(DEEPEVAL_TELEMETRY_OPT_OUT="YES", DEEPEVAL_DISABLE_DOTENV="1")

from deepeval import evaluate
from deepeval.evaluate.configs import AsyncConfig, CacheConfig, DisplayConfig, ErrorConfig
from deepeval.metrics import GEval
from deepeval.models import LocalModel
from deepeval.test_case import LLMTestCase, SingleTurnParams


def main(source: Path, out: Path, url: str) -> None:
    pairs = [json.loads(line) for line in source.open()]
    os.chdir(out.parent)  # it keeps its last run in the folder where it stands
    model = LocalModel(model="judge", base_url=url, api_key="none", generation_kwargs={"max_tokens": 256})
    metric = GEval(
        name="Culture",
        evaluation_steps=[
            "Look for wrong claims about a culture.",
            "Grave errors weigh more than slight ones.",
        ],
        evaluation_params=[SingleTurnParams.INPUT, SingleTurnParams.ACTUAL_OUTPUT],
        model=model,
    )
    print("judging")
    begun = time.monotonic()
    found = evaluate(
        [LLMTestCase(input=instruction, actual_output=output) for instruction, output in pairs],
        [metric],
        async_config=AsyncConfig(max_concurrent=64),
        cache_config=CacheConfig(write_cache=False),
        display_config=DisplayConfig(show_indicator=False, print_results=False),
        error_config=ErrorConfig(ignore_errors=True),
    )
    seconds = time.monotonic() - begun
    judged = sum(one.score is not None for result in found.test_results for one in result.metrics_data or [])
    out.write_text(json.dumps({"judged": judged, "failed": len(pairs) - judged, "seconds": seconds}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])
