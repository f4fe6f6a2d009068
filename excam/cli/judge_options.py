"""Options that choose a judge, the same for every command that needs one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import click

from excam.cli.numbers import Within

if TYPE_CHECKING:
    from serve.settings import JudgeSettings

OPTIONS = (
    click.option("--base", help="Base model: a name from `excam models list`, a folder, or a hub id."),
    click.option("--adapter", help="Adapter: a name, a folder, `auto` for the one made for the base, or `none`."),
    click.option("--threshold", type=Within(0, 1), help="P(error) from which a pair counts as an error."),
    click.option("--full", is_flag=True, default=None, help="Write every report whole and let it decide."),
    click.option("--judge-config", type=click.Path(exists=True, dir_okay=False), help="YAML with judge settings."),
)


def judge_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that choose a judge."""
    for option in reversed(OPTIONS):
        command = option(command)
    return command


def judge_settings(given: Mapping[str, Any]) -> JudgeSettings:
    """The settings those options describe."""
    from serve.settings import JudgeSettings

    changes = {key: value for key, value in given.items() if key != "judge_config"}
    return JudgeSettings.load(given.get("judge_config"), **changes)
