"""One documented file of settings, overridden in part, with mistakes named."""

from __future__ import annotations

from pathlib import Path

import pytest

from excam.fault import UserError
from serve.settings import JudgeSettings


def test_the_defaults_are_the_documented_file() -> None:
    settings = JudgeSettings.load()
    assert (settings.base, settings.threshold, settings.full) == ("qwen2.5-coder-0.5b", "auto", False)


def test_a_file_overrides_only_what_it_names_and_the_command_line_overrides_the_file(tmp_path: Path) -> None:
    path = tmp_path / "judge.yaml"
    path.write_text("threshold: 0.7\nreplicas: {max: 4}\n")
    settings = JudgeSettings.load(path, threshold=0.9, base=None)
    assert (settings.threshold, settings.replicas.max, settings.replicas.min) == (0.9, 4, 1)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("threshold: 2", "threshold"),
        ("treshold: 0.5", "treshold"),
        ("replicas: {max: many}", r"replicas\.max"),
        ("replicas: {min: 2}", "replicas: .*min is 2 and max 1: raise max too"),
        ("replicas: {gpus: -1}", r"replicas\.gpus"),
        ("- a", "no mapping"),
        ("{", "cannot be read"),
    ],
)
def test_a_mistake_is_named_with_its_file(tmp_path: Path, text: str, complaint: str) -> None:
    path = tmp_path / "judge.yaml"
    path.write_text(text)
    with pytest.raises(UserError, match=complaint):
        JudgeSettings.load(path)
