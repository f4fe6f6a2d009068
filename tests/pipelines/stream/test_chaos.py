"""A short dose of chaos on every test run; `make chaos` is the long one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.chaos.run import run_chaos
from tests.kafka import Kafka

pytestmark = [pytest.mark.engine, pytest.mark.faults, pytest.mark.usefixtures("judge")]


def test_whatever_dies_at_whatever_moment_every_message_has_one_outcome_and_trends_are_those_of_a_quiet_run(
    kafka: Kafka, judge_settings: Any, tmp_path: Path
) -> None:
    report = run_chaos(
        kafka,
        judge_settings,
        tmp_path,
        seed=29,
        victims=("driver", "worker", "disk"),
        seconds=20,
        kills=3,
        rate=2,
    )
    assert report.hurt["driver"] == report.hurt["worker"] == 1
    assert report.drivers >= 2
