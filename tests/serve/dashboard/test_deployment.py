"""What the dashboard's deployment is built from; tests/k8s/test_serve.py has it at work."""

from __future__ import annotations

from typing import Any

import pytest

from excam.fault import UserError
from serve.dashboard.deployment import build


@pytest.mark.parametrize(
    ("args", "wrong"),
    [
        ({"store": "ducklake:sqlite:x.sqlite"}, "no token"),
        ({"store": "ducklake:sqlite:x.sqlite", "only_this_machine": True, "replicas": 0}, r"args\.replicas"),
        ({"store": "ducklake:sqlite:x.sqlite", "password": "x"}, r"args\.password"),
        ({"store": "ducklake:sqlite:x.sqlite", "tokens": "nowhere.yaml"}, "cannot be read"),
    ],
)
def test_a_mistake_in_the_config_is_named(monkeypatch: pytest.MonkeyPatch, args: dict[str, Any], wrong: str) -> None:
    for variable in ("EXCAM_TOKEN", "EXCAM_READ_TOKEN"):
        monkeypatch.delenv(variable, raising=False)
    with pytest.raises(UserError, match=wrong):
        build(args)
