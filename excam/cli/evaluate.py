"""``excam evaluate``: measure a judge on a split of ExCAM40k."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from excam.cli.alone import alone_in
from excam.cli.evaluate_display import Display
from excam.cli.judge_options import judge_options, judge_settings
from excam.cli.options import json_option, refuse_options_before
from excam.cli.output import print_json, print_table
from excam.cli.paths import LocalPath
from excam.fault import UserError

if TYPE_CHECKING:
    from excam.evaluation.baselines import Baseline
    from excam.evaluation.figures import Figure, Summary
    from excam.evaluation.judged import Run
    from serve.identity import Judge

FOLDER = LocalPath(file_okay=False)
FILE = LocalPath()
BASELINES = ("counting", "severity", "binary")
COMMANDS = {
    "compare": "evaluate_compared",
    "out-of-domain": "evaluate_compared",
    "culturalbench": "evaluate_benchmarks",
    "questions": "evaluate_benchmarks",
    "answers": "evaluate_benchmarks",
}


class EvaluateGroup(click.Group):
    """Loads a command only when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"excam.cli.{COMMANDS[cmd_name]}")
        found: click.Command = getattr(module, cmd_name.replace("-", "_"))
        return found


@click.group(cls=EvaluateGroup, invoke_without_command=True)
@click.option("--data", type=FOLDER, help="Folder that `excam dataset build --out` wrote.")
@click.option("--split", type=click.Choice(["test", "dev"]), default="test", show_default=True)
@judge_options
@click.option("--limit", type=click.IntRange(2), help="At most so many samples of each source, twins together.")
@click.option("--reports", is_flag=True, help="Also write the reports of what is found, and judge their explanations.")
@click.option("--baseline", type=click.Choice(BASELINES), help="Ask the untuned base with this prompt of the paper.")
@click.option("--answer-tokens", type=click.IntRange(16), default=512, show_default=True, help="For --baseline.")
@click.option("--leave-one-out", metavar="SOURCE", help="Judge this source only: the adapter was trained without it.")
@click.option("--out", type=FOLDER, help="Where judged.parquet, report.md, the plots and figures.parquet go.")
@click.option("--judged", type=FILE, help="Only make the report of what an earlier run judged.")
@click.option("--decisions", type=FILE, help="Take the decisions a training run kept on this split; no engine starts.")
@click.option("--plots/--no-plots", default=True, help="PNG plots need matplotlib (extra `evaluate`).")
@json_option
@click.pass_context
def evaluate(
    ctx: click.Context,
    /,
    data: Path | None,
    split: str,
    limit: int | None,
    reports: bool,
    baseline: str | None,
    answer_tokens: int,
    leave_one_out: str | None,
    out: Path | None,
    judged: Path | None,
    decisions: Path | None,
    plots: bool,
    as_json: bool,
    **chosen: Any,
) -> None:
    """Judge a split of ExCAM40k in this process and write the report: accuracy, agreement, calibration, false alarms.

    A run that was stopped goes on where it was when the same command is given again.
    """
    if ctx.invoked_subcommand is not None:
        refuse_options_before(ctx.invoked_subcommand, ctx)
        return
    from excam.evaluation.figures import summarise
    from excam.evaluation.judged import Judged
    from excam.evaluation.write import write_report

    if judged is not None:
        path, folder = judged, out or (judged if judged.is_dir() else judged.parent)
    elif data is None or out is None:
        raise UserError("nothing to judge", "name the dataset with --data and a folder with --out, or give --judged")
    else:
        settings = _settings(chosen, baseline, answer_tokens)
        plan = Plan(data, split, limit, leave_one_out, baseline, reports or settings.full, decisions)
        if decisions and (plan.reports or baseline):
            raise UserError("a training run keeps decisions, no reports", "leave --reports, --full and --baseline out")
        ctx.with_resource(alone_in(out))
        path, folder = _judge(plan, out, settings), out
    table = Judged.read(path)
    summary = summarise(table)
    report = write_report(table, summary, folder, plots=plots)
    if as_json:
        print_json(_plain(table.run, summary))
    else:
        _print(table.run, summary)
        click.echo(f"report: {report}")


def _settings(chosen: dict[str, Any], baseline: str | None, answer_tokens: int) -> Any:
    if baseline is None:
        return judge_settings(chosen)
    if chosen.get("adapter") not in (None, "none"):
        raise UserError(f"--baseline {baseline} asks an untuned base", "leave --adapter out")
    return judge_settings({**chosen, "adapter": "none", "max_report_tokens": answer_tokens})


@dataclass(frozen=True)
class Plan:
    """What to judge and how, as the command line says it."""

    data: Path
    split: str
    limit: int | None
    left_out: str | None
    baseline: str | None
    reports: bool
    decisions: Path | None = None


def _judge(plan: Plan, out: Path, settings: Any) -> Path:
    """Judge what is not judged yet and join the parts; the path of the judged file."""
    from excam.cli.training_decisions import decided_rows
    from excam.evaluation.baselines import BASELINES as PROMPTS
    from excam.evaluation.choose import choose, read_split
    from excam.evaluation.parts import Parts
    from serve.identity import prepare
    from serve.offline import ask_baseline, judge_rows

    table = choose(read_split(plan.data, plan.split), plan.limit, plan.left_out)
    baseline = PROMPTS[plan.baseline] if plan.baseline else None
    with Display(table.num_rows) as display:
        judge = prepare(settings, progress=display.fetching)
        parts = Parts(out, facts(plan, judge))
        done = parts.done()
        rows = [row for row in table.to_pylist() if row["sample_id"] not in done]
        display.judged(len(done))
        keep = _gated_into(parts.add, display.judged)
        if rows and plan.decisions:
            keep(decided_rows(plan.decisions, plan.data / f"{plan.split}.parquet", rows, judge))
        elif rows and baseline:
            ask_baseline(judge, baseline, rows, keep)
        elif rows:
            judge_rows(judge, rows, keep, reports=plan.reports)
        return parts.join(table["sample_id"].to_pylist())


def facts(plan: Plan, judge: Judge) -> Run:
    """Who judges what: by this a stopped run is known again."""
    from excam.cli.training_decisions import adapter_of
    from excam.dataset.write import sha256
    from excam.evaluation.baselines import BASELINES as PROMPTS
    from excam.evaluation.judged import Run
    from excam.relevance import bundled
    from serve.offline import baseline_card, parameters

    baseline = PROMPTS[plan.baseline] if plan.baseline else None
    card = baseline_card(judge, baseline) if baseline else judge.card
    return Run(
        judge=_name(judge, baseline),
        judge_version=card.judge_version,
        parameters=parameters(judge.model_path),
        tuned=card.tuned,
        threshold=judge.threshold,
        baseline=plan.baseline,
        reports=plan.reports or baseline is not None,
        split=plan.split,
        dataset_sha256=sha256(plan.data / f"{plan.split}.parquet"),
        limit=plan.limit,
        left_out=plan.left_out,
        gate_version=bundled().version,
        decisions_sha256=sha256(plan.decisions) if plan.decisions else None,
        decisions_adapter=adapter_of(plan.decisions, judge.card) if plan.decisions else None,
    )


def _name(judge: Judge, baseline: Baseline | None) -> str:
    if baseline:
        return f"{judge.card.base} {baseline.short}"
    return f"{judge.card.base} + {judge.card.adapter}" if judge.card.adapter else f"{judge.card.base} untuned"


def _gated_into(add: Callable[[list[dict[str, Any]]], None], told: Callable[[int], None]) -> Callable[..., None]:
    """Keep a portion of verdicts together with what the gate in front would have said of the pairs."""
    from excam.relevance import bundled

    def keep(rows: list[dict[str, Any]]) -> None:
        found = bundled().probabilities((row["instruction"], row["output"]) for row in rows)
        gate = [{"p_cultural": float(p), "passes_gate": bool(p >= bundled().threshold)} for p in found]
        add([row | one for row, one in zip(rows, gate, strict=True)])
        told(len(rows))

    return keep


def _plain(run: Run, summary: Summary) -> dict[str, Any]:
    """Everything for machines; what is not known is null."""
    figures = [
        {key: None if isinstance(value, float) and math.isnan(value) else value for key, value in asdict(one).items()}
        for one in summary.figures
    ]
    return {"run": run.model_dump(), "figures": figures, "reliability": [asdict(one) for one in summary.bins]}


def _print(run: Run, summary: Summary) -> None:
    from excam.evaluation.figures import HEADLINE

    def cells(name: str, one: Figure) -> list[object]:
        ends = None if math.isnan(one.low) else f"{one.low:.3f} – {one.high:.3f}"
        return [name, f"{one.n:,}", None if math.isnan(one.figure) else f"{one.figure:.3f}", ends]

    named = (
        ("scaled accuracy, mean of sources", summary.find("scaled_accuracy", "hard", "all", HEADLINE)),
        ("scaled accuracy, pooled", summary.find("scaled_accuracy")),
        ("Kendall", summary.find("kendall")),
        ("tie-calibrated accuracy", summary.find("tie_accuracy")),
        ("ECE of P(error)", summary.find("ece", "all")),
        ("false alarms, not about culture", summary.find("false_alarms", "ordinary")),
        ("false alarms with the gate", summary.find("false_alarms_with_gate", "ordinary")),
        ("answers not readable", summary.find("parse_failures", "every pair")),
        ("explanation names the right answer", summary.find("names_right_answer")),
    )
    rows = [cells(name, one) for name, one in named if one]
    rows += [cells(f"  {one.value}", one) for one in summary.over("scaled_accuracy", "source")]
    click.echo(f"{run.judge} · judge_version {run.judge_version} · {run.split} split")
    print_table(("figure", "n", "value", "95 %"), rows, right=("n", "value"), whole=("figure", "95 %"))
