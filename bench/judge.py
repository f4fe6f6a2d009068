"""The judge that a benchmark times: chosen by the same options everywhere, and set to one decision a pair."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any


def add_judge_options(parser: argparse.ArgumentParser, configs: str | None = None) -> None:
    parser.add_argument("--base", default="smollm2-135m")
    parser.add_argument("--adapter", default="none")
    parser.add_argument("--judge-config", type=Path, nargs=configs, help="engine and replica settings, for all sides")


def settings_of(arguments: argparse.Namespace) -> Any:
    from serve.settings import JudgeSettings

    # A threshold that no pair reaches: every side makes exactly one decision a pair and writes no report.
    return JudgeSettings.load(
        arguments.judge_config, base=arguments.base, adapter=arguments.adapter, threshold=1.0, calibration="none"
    )
