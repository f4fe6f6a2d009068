"""Alert rules and dashboard are PromQL, and ask only for metrics that the code exports, by labels that it sets."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import ray.serve
import yaml

from pipelines.stream.metrics import Metrics
from tests.k8s.overlays import K8S, ROOT
from tests.k8s.schemas import fetched_package

FOLDER = K8S / "components" / "monitoring"
PARSER = "promql-parser==0.11.0"
METRIC = re.compile(r"\b(?:ray_)?(?:excam|serve)_[a-z0-9_]+")


def rules() -> Iterator[dict[str, Any]]:
    for group in yaml.safe_load((FOLDER / "rules.yaml").read_text("utf-8"))["spec"]["groups"]:
        yield from group["rules"]


def panels() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((FOLDER / "dashboard.json").read_text("utf-8"))["panels"]
    return found


def expressions() -> list[str]:
    asked = [target["expr"] for panel in panels() for target in panel["targets"]]
    return [rule["expr"] for rule in rules()] + asked


@pytest.fixture(scope="module")
def promql() -> Any:
    sys.path.insert(0, str(fetched_package(PARSER)))
    import promql_parser  # type: ignore[import-not-found]

    return promql_parser


@pytest.mark.parametrize("expression", expressions())
def test_every_expression_is_promql(expression: str, promql: Any) -> None:
    promql.parse(expression)


def test_what_is_no_promql_is_found(promql: Any) -> None:
    with pytest.raises(ValueError, match="unclosed"):
        promql.parse("sum by (topic (excam_stream_lag_seconds) > 600")


def exported() -> set[str]:
    """Names as Prometheus sees them: the stream's from its registry, Serve's and the judge's by Ray's way of naming."""
    stream = {sample.name for family in Metrics("topic").registry.collect() for sample in family.samples}
    stream |= {f"excam_stream_log_to_verdict_seconds_{end}" for end in ("bucket", "sum", "count")}
    kinds = {family.name: family.type for family in Metrics("topic").registry.collect()}
    stream |= {name + ("_total" if kind == "counter" else "") for name, kind in kinds.items()}
    sources = [*(ROOT / "serve").rglob("*.py"), *(Path(ray.serve.__file__).parent / "_private").glob("*.py")]
    code = "\n".join(path.read_text("utf-8") for path in sources)
    counters = set(re.findall(r'Counter\(\s*"((?:excam|serve)_[a-z_]+)"', code))
    gauges = set(re.findall(r'Gauge\(\s*"((?:excam|serve)_[a-z_]+)"', code))
    return stream | gauges | {f"ray_{name}" for name in gauges} | {f"ray_{name}_total" for name in counters}


def test_only_metrics_that_are_exported_are_asked_for() -> None:
    known = exported()
    asked = {name for expression in expressions() for name in METRIC.findall(expression)}
    assert len(asked) > 8
    assert asked - known == set()


def test_the_four_things_an_operator_must_hear_of_have_an_alert() -> None:
    alerts = {rule["alert"]: rule for rule in rules()}
    assert {"ExcamJudgeDown", "ExcamStreamLag", "ExcamDeadLetters", "ExcamErrorRate"} <= alerts.keys()
    assert "absent" in alerts["ExcamJudgeDown"]["expr"]
    assert "increase" in alerts["ExcamDeadLetters"]["expr"], "a share of few records says nothing"
    for name, rule in alerts.items():
        assert rule["labels"]["severity"] in ("warning", "critical"), name
        assert {"summary", "description"} <= rule["annotations"].keys(), name


def test_a_jump_of_a_countrys_rate_is_told_only_above_a_floor_of_answers() -> None:
    from excam.alerts.rules import Rules

    jump = next(rule for rule in Rules.load(K8S / "base" / "alert-rules.yaml").rules if rule.kind == "rate_risen")
    assert (jump.by, jump.floor >= 100) == ("country", True)


def test_panels_of_the_dashboard_stand_beside_and_not_upon_each_other() -> None:
    places = [(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in panels()]
    assert len(set(places)) == len(places)
    assert len({panel["id"] for panel in panels()}) == len(places)
