"""``excam evaluate culturalbench|questions|answers``: other benchmarks, put to the judge or to a chatbot."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from excam.cli.aside import aside
from excam.cli.evaluate_display import Display
from excam.cli.judge_options import judge_options, judge_settings
from excam.cli.options import json_option
from excam.cli.output import print_json, print_table
from excam.cli.paths import LocalPath
from excam.fault import UserError

if TYPE_CHECKING:
    from excam.evaluation.asked import Answer, Asked

FOLDER = LocalPath(file_okay=False)
FILE = LocalPath(dir_okay=False)
SOURCES = click.option("--sources", type=FOLDER, required=True, help="Folder of the benchmarks, one folder each.")
CHATBOT = click.argument("benchmark", type=click.Choice(["msqa", "culturall", "calmqa"]))


@click.command()
@SOURCES
@click.option("--data", type=FOLDER, help="A build of ExCAM40k: only questions of its test split, never trained on.")
@judge_options
@click.option("--limit", type=click.IntRange(1), help="At most so many questions.")
@click.option("--out", type=FILE, help="Keep the eight judgements of every question in this Parquet file.")
@json_option
def culturalbench(
    sources: Path, data: Path | None, limit: int | None, out: Path | None, as_json: bool, **chosen: Any
) -> None:
    """CulturalBench Easy and Hard: a Hard question counts only if all four judgements are right.

    Without --data all questions are asked, among them those an adapter was trained on.
    """
    from excam.evaluation.choose import read_split
    from excam.evaluation.culturalbench import CHANCE, pairs, read_questions, results
    from serve.identity import prepare
    from serve.offline import judge_rows

    only = frozenset(read_split(data, "test")["item_id"].to_pylist()) if data else None
    questions = read_questions(sources, only)[:limit]
    if not questions:
        raise UserError("no question of CulturalBench is in this split", "give the build made from these sources")
    if out:
        out.parent.mkdir(parents=True, exist_ok=True)
    rows, settings = list(pairs(questions)), judge_settings(chosen)
    judged: list[dict[str, Any]] = []
    with Display(len(rows), kept=False) as display:
        judge = prepare(settings, progress=display.fetching)

        def keep(portion: list[dict[str, Any]]) -> None:
            judged.extend(portion)
            display.judged(len(portion))

        judge_rows(judge, rows, keep, reports=settings.full)
    if out:
        _keep(judged, out)
    found = results(questions, judged)
    if as_json:
        print_json([{**asdict(one), "accuracy": one.accuracy, "interval": one.interval} for one in found])
        return
    lines: list[list[object]] = [
        [one.form, one.country or "all", one.n, f"{one.accuracy:.1%}", "{:.1%} – {:.1%}".format(*one.interval)]
        for one in found
        if not one.country or one.n >= 20
    ]
    print_table(("form", "country", "n", "right", "95 %"), lines, right=("n", "right"), whole=("95 %",))
    chance = ", ".join(f"{form} {share:.2%}" for form, share in CHANCE.items())
    click.echo(f"by chance: {chance}; countries with fewer than 20 questions are not shown")


def _keep(rows: Sequence[dict[str, Any]], path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    names = ("question_id", "form", "place", "instruction", "output", "status", "p_error")
    pq.write_table(pa.table({name: [row.get(name) for row in rows] for name in names}), path, compression="zstd")


@click.command("questions")
@CHATBOT
@SOURCES
@click.option("--out", type=FILE, required=True, help="Parquet file of the questions.")
def questions(benchmark: str, sources: Path, out: Path) -> None:
    """Write a benchmark's questions for a chatbot to answer, without their answers."""
    from excam.evaluation.asked import questions as read
    from excam.evaluation.asked import unreadable, write_questions

    click.echo(f"{write_questions(read(benchmark, sources), out):,} questions: {out}")
    if bad := unreadable(benchmark, sources):
        aside(f"{len(bad):,} records left out, the first: {bad[0].place}: {bad[0].reason}")


@click.command("answers")
@CHATBOT
@SOURCES
@click.option("--answers", "file", type=FILE, required=True, help="Parquet or JSON lines: question_id, answer.")
@click.option("--grader", metavar="MODULE:NAME", help="Grades an answer [default: it holds the gold answer's words].")
@click.option("--factual", metavar="MODULE:NAME", help="CaLMQA: how factual an answer is, between 0 and 1.")
@click.option("--relevant", metavar="MODULE:NAME", help="CaLMQA: how relevant it is, between 0 and 1.")
@json_option
def answers(
    benchmark: str,
    sources: Path,
    file: Path,
    grader: str | None,
    factual: str | None,
    relevant: str | None,
    as_json: bool,
) -> None:
    """Score a chatbot's answers: MSQA's CO/NA/IN/CGA/F, CulturALL's accuracy, CaLMQA's S.

    A scorer is a Python function of your own; columns grade, factual or relevant in the file stand before it.
    """
    from excam.evaluation.asked import questions as read
    from excam.evaluation.asked import read_answers

    asked = read(benchmark, sources)
    given = read_answers(file, asked)
    if unanswered := len(asked) - len(given):
        aside(f"{unanswered:,} of {len(asked):,} questions have no answer in {file} and do not count")
    if benchmark == "calmqa":
        rows = _calmqa(given, _load(factual), _load(relevant))
    else:
        rows = _graded(benchmark, given, _load(grader))
    if left_out := len(given) - rows[0]["n"]:
        aside(f"{left_out:,} answers left out: answers in their language cannot be told from others")
    rows = [{key: None if cell != cell else cell for key, cell in row.items()} for row in rows]  # nan: nothing is known
    if as_json:
        print_json(rows)
        return
    columns = [name for name in rows[0] if name not in ("by", "value")]
    shown = [{key: f"{cell:.3f}" if isinstance(cell, float) else cell for key, cell in row.items()} for row in rows]
    cells: list[list[object]] = [[row["by"], row["value"], *(row[name] for name in columns)] for row in shown]
    print_table(("by", "value", *columns), cells, right=columns)


def _graded(benchmark: str, given: Sequence[tuple[Asked, Answer]], grader: Any) -> list[dict[str, Any]]:
    from excam.evaluation.short_answers import accuracy, contains, grade_all, grades_by, msqa

    graded = grade_all(given, grader or contains)
    measure: Any = msqa if benchmark == "msqa" else accuracy
    place = "culture" if benchmark == "msqa" else "region"
    rows = [{"by": "all", "value": "", **asdict(measure([one.grade for one in graded]))}]
    for by, field in (("language", "language"), (place, "country"), ("topic", "topic")):
        for value, grades in grades_by(graded, lambda asked, field=field: getattr(asked, field)).items():  # type: ignore[misc]
            rows.append({"by": by, "value": value, **asdict(measure(grades))})
    return rows


def _calmqa(given: Sequence[tuple[Asked, Answer]], factual: Any, relevant: Any) -> list[dict[str, Any]]:
    from excam.evaluation.long_answers import calmqa, score_all

    scored = score_all(given, factual, relevant)
    kinds = {"agnostic": False, "specific": True}
    rows = [{"by": "all", "value": "", **asdict(calmqa(scored))}]
    for kind, cultural in kinds.items():
        mine = [one for one in scored if one.asked.cultural is cultural]
        rows += [{"by": "culture", "value": kind, **asdict(calmqa(mine))}] if mine else []
        for language in sorted({one.asked.language for one in mine}):
            part = calmqa([one for one in mine if one.asked.language == language])
            rows.append({"by": kind, "value": language, **asdict(part)})
    return rows


def _load(name: str | None) -> Any:
    """A function by MODULE:NAME; a module of one's own may lie in the folder one stands in."""
    if name is None:
        return None
    module, _, attribute = name.partition(":")
    if str(Path.cwd()) not in sys.path:
        sys.path.append(str(Path.cwd()))  # at the end: no file there takes the place of a package
    try:
        found = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as problem:
        raise UserError(f"{name} cannot be loaded: {problem}", "name a function as MODULE:NAME") from problem
    if not callable(found):
        raise UserError(f"{name} is no function", "name a function as MODULE:NAME")
    return found
