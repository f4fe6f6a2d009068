"""The calculator: what was never measured is never called so, and more traffic never needs less."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st

from excam.cli.plan import plan
from excam.fault import UserError
from excam.plan import Basis, Plan, Traffic, figures, make_plan

ROOT = Path(__file__).parents[2]


def planned(**changes: Any) -> Plan:
    asked: dict[str, Any] = {
        "pairs_per_day": 1_000_000,
        "machine": "h200",
        "model": "qwen2.5-coder-1.5b",
        "tokens_per_pair": 158,
        "cultural": 1.0,
        "reports": 0.0,
        "hours": 6.0,
        "peak": 1.0,
    }
    return make_plan(Traffic(**asked | changes))


def need(made: Plan, name: str) -> float:
    (found,) = [figure.value for figure in made.needs if figure.name == name]
    return found


def speed(made: Plan) -> Any:
    return made.rests_on[0]


def test_only_what_was_timed_is_called_measured() -> None:
    assert speed(planned(machine="cpu", model="smollm2-135m")).basis is Basis.MEASURED
    assert speed(planned(machine="cpu", model="smollm2-135m", tokens_per_pair=300)).basis is Basis.EXTRAPOLATED
    assert speed(planned(machine="cpu")).basis is Basis.EXTRAPOLATED
    assert speed(planned(tokens_per_pair=263)).basis is Basis.MEASURED
    assert speed(planned()).basis is Basis.EXTRAPOLATED
    assert speed(planned(machine="mine", pairs_per_second=50)).basis is Basis.ASSUMED
    assert {figure.basis for figure in planned().needs} == {Basis.EXTRAPOLATED}


def test_a_smaller_model_or_a_shorter_pair_is_not_promised_to_be_faster() -> None:
    assert speed(planned(model="qwen2.5-coder-0.5b")).value == speed(planned()).value
    assert speed(planned(tokens_per_pair=20)).value == speed(planned(tokens_per_pair=263)).value
    assert speed(planned(tokens_per_pair=526)).value == speed(planned(tokens_per_pair=263)).value / 2


def test_a_machine_or_model_nothing_was_measured_on_is_refused_with_a_way_out() -> None:
    for unknown in ({"machine": "a100"}, {"model": "gpt-9"}):
        with pytest.raises(UserError, match="nothing was measured") as refused:
            planned(**unknown)
        assert "--pairs-per-second" in refused.value.fix


def test_a_night_of_known_speed_is_simple_arithmetic() -> None:
    made = planned(pairs_per_second=10, pairs_per_day=7 * 3600 * 12, hours=6)
    assert need(made, "pairs that reach the judge") == pytest.approx(7 * 3600 * 12 * 0.998)
    assert need(made, "replicas for a nightly run") == 2
    assert need(made, "hours of such a night") == pytest.approx(6 * 0.998)
    assert need(planned(pairs_per_second=10, reports=1.0), "replicas for a nightly run") > 9 * 5


@given(
    pairs=st.integers(1, 10**10),
    more=st.integers(1, 10**9),
    tokens=st.floats(20, 5000),
    cultural=st.floats(0, 1),
    reports=st.floats(0, 1),
)
def test_more_traffic_longer_pairs_and_more_errors_never_need_less(
    pairs: int, more: int, tokens: float, cultural: float, reports: float
) -> None:
    asked = {"pairs_per_day": pairs, "tokens_per_pair": tokens, "cultural": cultural, "reports": reports}
    less = planned(**asked)
    greater = [
        planned(**asked | {"pairs_per_day": pairs + more}),
        planned(**asked | {"tokens_per_pair": tokens * 2}),
        planned(**asked | {"reports": 1.0}),
        planned(**asked | {"cultural": 1.0}),
    ]
    for one in greater:
        for name in ("replicas for a nightly run", "replicas for a live stream", "store"):
            assert need(one, name) >= need(less, name)


def test_the_figures_are_those_the_documents_tell() -> None:
    known = figures()
    benchmarks = (ROOT / "docs/benchmarks.md").read_text()
    (row,) = re.findall(r"\| pipeline, from Parquet to committed verdicts \|(.*)\|", benchmarks)
    *_, all_rounds, _ratio = (cell.strip() for cell in row.split("|"))
    assert float(all_rounds) == known.judges[0].value
    assert f"{known.gate_cultural.value:.1%}".replace("%", " %") in benchmarks
    assert f"{1 - known.gate_ordinary.value:.1%}".replace("%", " %") in benchmarks
    assert all(f"| {judge.value:g} |" in benchmarks for judge in known.judges if judge.machine == "h200")
    assert f"{known.screener.value:.0f} messages" in (ROOT / "docs/streaming.md").read_text()
    assert set(tomllib.loads((ROOT / "excam/plan.toml").read_text())["machines"]) >= {
        one.machine for one in known.judges
    }


def test_the_command_tells_what_is_measured_and_what_is_not() -> None:
    told = CliRunner().invoke(plan, ["--pairs-per-day", "1000000", "--gpu", "H200"], catch_exceptions=False).output
    assert "extrapolated" in told
    assert "python -m bench.size" in told
    assert "before you buy" in told
