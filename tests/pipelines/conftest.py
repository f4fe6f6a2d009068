"""What the pipelines' tests share besides the judge: another one, which costs no second engine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from serve.identity import prepare
from serve.settings import JudgeSettings
from serve.start import APPLICATION


@pytest.fixture
def next_judge(judge: Any, judge_settings: JudgeSettings) -> Iterator[JudgeSettings]:
    """A judge with another identity on the engine that is there: a second engine would prove nothing more."""
    from ray import serve

    _, card = judge
    settings = judge_settings.model_copy(update={"threshold": 0.999})
    engine = f"{APPLICATION}-{card.judge_version}"

    class Forward:
        async def judge_batch(self, pairs: list[tuple[str, str]]) -> Any:
            return await serve.get_app_handle(engine).judge_batch.remote(pairs)

    name = f"{APPLICATION}-{prepare(settings).card.judge_version}"
    application = serve.deployment(ray_actor_options={"num_cpus": 0})(Forward).bind()
    serve.run(application, name=name, route_prefix=None)
    yield settings
    serve.delete(name)
