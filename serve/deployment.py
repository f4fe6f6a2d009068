"""The judge as a Ray Serve deployment: replicas around vLLM engines, replaced when their engine dies.

``build`` makes judge and HTTP face an application of a Serve config:

applications:
- name: judge
  route_prefix: /
  import_path: serve.deployment:build
  args: {config: /etc/excam/judge.yaml}
"""

from __future__ import annotations

import collections
import logging
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from ray import serve
from ray.serve.metrics import Counter, Gauge

from excam.fault import UserError
from excam.judge_card import JudgeCard
from excam.judgement import JudgeFailure, Judgement
from serve.cores import engines_of
from serve.engine_arguments import engine_environment
from serve.guard import TOKEN_VARIABLE, token_in
from serve.identity import has_gpu, identify
from serve.settings import JudgeSettings
from serve.stuck import EngineStuckError

logger = logging.getLogger("ray.serve")
QUEUE_PER_REPLICA = 4  # calls that may wait for each one being worked on before callers are told to come back later


class JudgeReplica:
    """One judge and its identity. ``judge_batch`` is what pipelines and the HTTP face call."""

    def __init__(self, settings: JudgeSettings, engines: int = 1) -> None:
        from serve.engine import JudgeEngine
        from serve.identity import prepare

        self._engine = JudgeEngine(prepare(settings), engines)
        tags = ("judge_version",)
        version = {"judge_version": self._engine.card.judge_version}
        self._pairs = Counter("excam_judged_pairs", description="Pairs judged, by status.", tag_keys=(*tags, "status"))
        self._pairs.set_default_tags(dict(version))
        self._ongoing = Gauge("excam_judging_pairs", description="Pairs being judged now.", tag_keys=tags)
        self._ongoing.set_default_tags(dict(version))
        self._now = 0

    async def card(self) -> JudgeCard:
        return self._engine.card

    async def judge_batch(self, pairs: Sequence[tuple[str, str]]) -> list[Judgement | JudgeFailure]:
        """Judge (instruction, output) pairs; the answers come in the same order."""
        self._count(len(pairs))
        try:
            judged = await self._engine.judge_many(pairs)
        finally:
            self._count(-len(pairs))
        found = collections.Counter(one.status.value if isinstance(one, Judgement) else one.reason for one in judged)
        for status, pairs_of_it in found.items():
            self._pairs.inc(pairs_of_it, {"status": status})
        return judged

    async def check_health(self) -> None:
        """A dead engine ends its replica at once: Serve would wait for three failed checks before it starts another."""
        from vllm.v1.engine.exceptions import EngineDeadError

        try:
            await self._engine.check_health()
        except (EngineDeadError, EngineStuckError) as error:
            logger.error("this replica ends, and another takes its place: %s", error)
            os._exit(1)

    def _count(self, change: int) -> None:
        self._now += change
        self._ongoing.set(self._now)

    def __del__(self) -> None:
        engine = getattr(self, "_engine", None)
        if engine is not None:
            engine.shutdown()


def judge_deployment(settings: JudgeSettings) -> Any:
    """The deployment with replicas, queues and autoscaling as the settings say, bound to them."""
    replicas = settings.replicas
    gpus = float(has_gpu()) if replicas.gpus == "auto" else replicas.gpus
    engines = 1 if gpus else engines_of(settings)
    options: dict[str, Any] = {
        "name": "Judge",
        "ray_actor_options": {
            "num_cpus": replicas.cpus,
            "num_gpus": gpus,
            "runtime_env": {"env_vars": engine_environment(settings, engines)},
        },
        "max_ongoing_requests": replicas.max_ongoing_requests,
        "max_queued_requests": replicas.max_ongoing_requests * QUEUE_PER_REPLICA * replicas.max,
        "health_check_period_s": 5,
        "health_check_timeout_s": 30,
        "graceful_shutdown_timeout_s": 10,
    }
    if replicas.min == replicas.max:
        options["num_replicas"] = replicas.max
    else:
        options["autoscaling_config"] = {
            "min_replicas": replicas.min,
            "max_replicas": replicas.max,
            "target_ongoing_requests": replicas.target_ongoing_requests,
        }
    return serve.deployment(**options)(JudgeReplica).bind(settings, engines)


class JudgeArguments(BaseModel):
    """What a Serve config says about the judge; the token of its callers stays in the environment."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    config: Path | None = Field(None, description="YAML file with judge settings")
    only_this_machine: bool = Field(False, description="no token; promise that Serve's HTTP proxy listens on loopback")


def build(args: Mapping[str, Any]) -> serve.Application:
    """Judge and HTTP face for these arguments; a mistake in them stops the deployment with what to do about it."""
    from serve.api import api_application

    try:
        asked = JudgeArguments.model_validate(dict(args))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        fields = ", ".join(JudgeArguments.model_fields)
        raise UserError(f"args.{'.'.join(map(str, first['loc']))}: {first['msg']}", f"fields: {fields}") from error
    if token_in(os.environ) is None and not asked.only_this_machine:
        raise UserError(
            "the judge has no token, and Serve may let others reach it",
            f"set {TOKEN_VARIABLE} in the environment of Ray's nodes, or say args.only_this_machine: true where "
            "Serve's http_options.host is 127.0.0.1",
        )
    settings = JudgeSettings.load(asked.config)
    return api_application(settings, identify(settings))
