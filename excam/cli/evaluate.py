"""``excam evaluate``: measure a judge on a split of ExCAM40k, compare two, and tabulate out-of-domain adapters."""

from __future__ import annotations

import importlib
import math
import signal
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

import click

from excam.cli.judge_options import judge_options, judge_settings
from excam.cli.options import json_option
from excam.cli.output import print_json, print_table
from excam.fault import UserError

if TYPE_CHECKING:
    from excam.evaluation.baselines import Baseline
    from excam.evaluation.figures import Figure, Summary
    from excam.evaluation.judged import Judged, Run
    from serve.identity import Judge

FOLDER = click.Path(path_type=Path, file_okay=False)
FILE = click.Path(path_type=Path)
BASELINES = ("counting", "severity", "binary")
BENCHMARKS = ("culturalbench", "questions", "answers")


class EvaluateGroup(click.Group):
    """Loads the commands on other benchmarks only when they are called."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*super().list_commands(ctx), *BENCHMARKS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name in BENCHMARKS:
            found: click.Command = getattr(importlib.import_module("excam.cli.evaluate_benchmarks"), cmd_name)
            return found
        return super().get_command(ctx, cmd_name)


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
        if plan.decisions:
            keep(decided_rows(plan.decisions, rows, judge))
        elif rows and baseline:
            ask_baseline(judge, baseline, rows, keep)
        elif rows:
            judge_rows(judge, rows, keep, reports=plan.reports)
        return parts.join(table["sample_id"].to_pylist())


def facts(plan: Plan, judge: Judge) -> Run:
    """Who judges what: by this a stopped run is known again."""
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


class Display:
    """A bar on stderr; while it is up, being told to terminate is the same as Ctrl-C."""

    def __init__(self, total: int) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        self._progress = Progress(*columns, console=Console(stderr=True), transient=True)
        self._total = total
        self._task = self._progress.add_task("starting the judge", total=total)

    def __enter__(self) -> Display:
        def stop(number: int, frame: FrameType | None) -> None:
            raise KeyboardInterrupt

        self._before = signal.signal(signal.SIGTERM, stop)
        self._progress.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        signal.signal(signal.SIGTERM, self._before)
        self._progress.stop()
        if kind is KeyboardInterrupt:
            self._progress.console.print("Stopped. What was judged is kept; the same command goes on from here.")

    def fetching(self, step: str, done: int, total: int) -> None:
        self._progress.update(self._task, description=step, completed=done, total=total or None)

    def judged(self, count: int) -> None:
        if self._progress.tasks[0].total != self._total or self._progress.tasks[0].description != "judging":
            self._progress.update(self._task, description="judging", total=self._total, completed=0)
        self._progress.advance(self._task, count)


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
        known = not math.isnan(one.low)
        return [name, f"{one.n:,}", f"{one.figure:.3f}", f"{one.low:.3f} – {one.high:.3f}" if known else None]

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


@evaluate.command()
@click.argument("a", type=FILE)
@click.argument("b", type=FILE)
@click.option("--permutations", type=click.IntRange(100), default=1000, show_default=True)
@json_option
def compare(a: Path, b: Path, permutations: int, as_json: bool) -> None:
    """Is judge A better than judge B? Two judged files of one split, a paired permutation test over whole items."""
    from excam.evaluation.compare import compare as ask
    from excam.evaluation.judged import Judged

    found = ask(Judged.read(a), Judged.read(b), permutations)
    if as_json:
        print_json([{k: None if v != v else v for k, v in asdict(one).items()} for one in found])
        return
    rows: list[list[object]] = [
        [one.measure, one.slice, f"{one.n:,}", f"{one.a:.3f}", f"{one.b:.3f}", f"{one.difference:+.3f}",
         None if math.isnan(one.low) else f"{one.low:+.3f} – {one.high:+.3f}", f"{one.p_value:.3f}"]
        for one in found
    ]  # fmt: skip
    columns = ("measure", "on", "n", "A", "B", "A - B", "95 %", "p")
    print_table(columns, rows, right=("n", "A", "B", "A - B", "p"), whole=("measure", "on", "95 %"))


@evaluate.command("out-of-domain")
@click.argument("files", type=FILE, nargs=-1, required=True)
@click.option("--against", type=FILE, multiple=True, help="A judge to hold them against, on the same split.")
@click.option("--in-domain", type=FILE, help="The judge trained on every source, for the column ALL (ID).")
@click.option("--out", type=click.Path(path_type=Path, dir_okay=False), help="Also write the Markdown to this file.")
def out_of_domain(files: tuple[Path, ...], against: tuple[Path, ...], in_domain: Path | None, out: Path | None) -> None:
    """The table behind the paper's Figure 3, from runs with --leave-one-out: FILES are their judged files."""
    from excam.evaluation.judged import Judged
    from excam.evaluation.markdown import render_out_of_domain
    from excam.evaluation.out_of_domain import in_domain as of_all
    from excam.evaluation.out_of_domain import out_of_domain as columns_of

    others: list[Judged] = [Judged.read(path) for path in against]
    columns = columns_of([Judged.read(path) for path in files], others)
    whole = of_all(Judged.read(in_domain)) if in_domain else None
    text = render_out_of_domain(columns, "left out in training", [one.run.judge for one in others], whole)
    if out:
        out.write_text(text, "utf-8")
    click.echo(text)
