from __future__ import annotations

import gc
import gzip
import json
import re
import sys
import tempfile
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from filelock import FileLock

from excam.cli.evaluate import Plan, evaluate, facts
from excam.dataset.balance import Choice
from excam.dataset.hard import HardErrors
from excam.dataset.item import Item, Task
from excam.dataset.sample import to_table
from excam.evaluation.judged import Judged, Run, judged_table
from excam.evaluation.parts import Parts
from excam.fault import UserError
from serve.identity import prepare
from serve.settings import JudgeSettings

DISHES = ("rendang", "sushi", "mole", "jollof rice", "sauerbraten", "pho")
SMALL = ("--base", "smollm2-135m", "--adapter", "none", "--judge-config")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A build of twelve samples: twins of two sources and two ordinary pairs."""
    folder = tmp_path_factory.mktemp("data")
    samples = []
    for number, (gold, wrong) in enumerate(pairwise(DISHES)):
        source = "epic" if number % 2 else "blend"
        item = Item(item_id=f"{source}:{number}", group=f"{source}:{number}", source=source, task=Task.FREEFORM_QA,
                    question=f"Which dish is served at feast {number}?", gold=gold, wrong=(wrong,), country="ID",
                    language="en")  # fmt: skip
        samples += list(HardErrors(number).twins(Choice(item, wrong, 0)))
    sums = Item(item_id="assistant:1", group="assistant:1", source="assistant", task=Task.ASSISTANT,
                question="What is 2 + 2?", gold="4", wrong=("5",), language="en", cultural=False)  # fmt: skip
    samples += list(HardErrors(9).ordinary(sums, "5", Task.ASSISTANT))
    pq.write_table(to_table(samples), folder / "test.parquet")
    return folder


def _judge(data: Path, out: Path, wrong: int, **facts: Any) -> Path:
    """What a judge would have written that is wrong on the first so many samples."""
    rows = pq.read_table(data / "test.parquet").to_pylist()
    for number, row in enumerate(rows):
        error = (row["label"] == "error") != (number < wrong)
        row |= {
            "status": "error" if error else "correct",
            "score": -5.0 if error else 0.9,
            "p_error": 0.1 + 0.8 * error,
        }
        row |= {"p_report": None if error else 0.9, "passes_gate": row["label"] != "not_applicable"}
    run = Run(judge="ours", judge_version="0" * 16, tuned=True, threshold=0.5, reports=False, split="test",
              dataset_sha256="0" * 64).model_copy(update=facts)  # fmt: skip
    out.mkdir(parents=True, exist_ok=True)
    pq.write_table(judged_table(rows, run), out / "judged.parquet")
    return out


def _run(*arguments: object) -> Any:
    return CliRunner().invoke(evaluate, [str(one) for one in arguments])


def test_the_report_of_an_earlier_run_needs_no_engine(data: Path, tmp_path: Path) -> None:
    folder = _judge(data, tmp_path / "run", 0)
    found = _run("--judged", folder)
    assert found.exit_code == 0, found.output
    assert re.search(r"scaled accuracy, mean of sources +10 +1\.000", found.output)
    assert (folder / "report.md").is_file()
    assert (folder / "sources.png").is_file()
    printed = _run("--judged", folder / "judged.parquet", "--out", tmp_path / "b", "--json", "--no-plots").output
    figures = json.loads(printed)
    assert figures["run"]["judge"] == "ours"
    alarms = next(one for one in figures["figures"] if one["measure"] == "false_alarms" and one["by"] == "all")
    assert (alarms["n"], alarms["figure"], alarms["low"]) == (2, 0.0, 0.0)


def test_two_judges_are_compared(data: Path, tmp_path: Path) -> None:
    a, b = _judge(data, tmp_path / "a", 0), _judge(data, tmp_path / "b", 6)
    found = _run("compare", a, b)
    assert found.exit_code == 0, found.output
    assert "mean of sources" in found.output
    rows = json.loads(_run("compare", a, b, "--json").output)
    assert rows[0]["difference"] > 0
    assert 0 < rows[0]["p_value"] <= 1


def test_what_cannot_be_measured_is_no_number_and_cannot_be_compared(data: Path, tmp_path: Path) -> None:
    folder = _judge(data, tmp_path / "a", 0)
    judged = Judged.read(folder)
    errors = judged.where(judged.is_error).table.to_pylist()
    pq.write_table(judged_table(errors, judged.run), folder / "judged.parquet")
    found = _run("--judged", folder, "--no-plots")
    assert re.search(r"scaled accuracy, pooled +5 +–", found.stdout)
    assert "nan" not in found.stdout
    refused = _run("compare", folder, folder)
    assert isinstance(refused.exception, UserError)
    assert "with and without an error" in refused.exception.message


def test_leave_one_out_runs_become_the_table_of_figure_3(data: Path, tmp_path: Path) -> None:
    left = [_judge(data, tmp_path / source, 0, left_out=source) for source in ("blend", "epic")]
    base = _judge(data, tmp_path / "base", 6, judge="untuned base")
    found = _run("out-of-domain", *left, "--against", base, "--in-domain", base, "--out", tmp_path / "table.md")
    assert found.exit_code == 0, found.output
    text = (tmp_path / "table.md").read_text("utf-8")
    assert "| Judge | ALL (ID) | blend" in text
    assert "| untuned base |" in text


def test_answers_of_a_chatbot_are_scored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "msqa" / "msqa.jsonl.gz"
    path.parent.mkdir()
    record = {"id": "1", "language": "en", "category": "Products", "question": "Which symbol?", "answer": "An owl."}
    lines = [json.dumps(record), json.dumps(record | {"id": "2", "question": "Which bird?"}), "half a rec"]
    path.write_bytes(gzip.compress("\n".join(lines).encode()))
    asked = _run("questions", "msqa", "--sources", tmp_path, "--out", tmp_path / "q.parquet")
    assert "2 questions" in asked.stdout
    assert "1 records left out, the first: msqa/msqa.jsonl.gz:3: line: not JSON" in asked.stderr
    answers = tmp_path / "answers.parquet"
    pq.write_table(pa.table({"question_id": ["msqa:1"], "answer": ["It is an owl"]}), answers)
    common = ("answers", "msqa", "--sources", tmp_path, "--answers", answers)
    scored = _run(*common, "--json")
    assert json.loads(scored.stdout)[0]["f"] == 1
    assert "1 of 2 questions have no answer" in scored.stderr
    assert "topic" in _run(*common).stdout
    for name in ("no.such:thing", "math:pi"):
        assert isinstance(_run(*common, "--grader", name).exception, UserError)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my_grader.py").write_text("def hard(question, gold, answer): return 'incorrect'")
    assert json.loads(_run(*common, "--grader", "my_grader:hard", "--json").stdout)[0]["f"] == 0


def test_what_is_not_known_of_long_answers_is_null_and_what_is_left_out_is_told(tmp_path: Path) -> None:
    path = tmp_path / "calmqa" / "calmqa.jsonl.gz"
    path.parent.mkdir()
    record = {"name": "rundi:1", "culture": "specific", "language": "Kirundi", "question": "Ni kuki?", "answers": []}
    path.write_bytes(gzip.compress(json.dumps(record).encode()))
    answers = tmp_path / "answers.parquet"
    pq.write_table(pa.table({"question_id": ["calmqa:rundi:1:rn"], "answer": ["Ego"]}), answers)
    found = _run("answers", "calmqa", "--sources", tmp_path, "--answers", answers, "--json")
    (row,) = json.loads(found.stdout)
    assert (row["n"], row["score"]) == (0, None)
    assert "1 answers left out" in found.stderr


@pytest.mark.parametrize("full", [False, True])
def test_culturalbench_has_its_folder_before_the_judge_starts_and_lets_whole_reports_decide(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, full: bool
) -> None:
    path, out = tmp_path / "culturalbench" / "true_false.jsonl.gz", tmp_path / "new" / "kept.parquet"
    path.parent.mkdir()
    rows = [
        {"question_id": "a", "input": f"Question: What is eaten? Answer: dish {place}.", "output": str(place == 0),
         "country": "Japan"} for place in range(4)
    ]  # fmt: skip
    path.write_bytes(gzip.compress("\n".join(map(json.dumps, rows)).encode()))

    def stopped(judge: object, rows: object, keep: object, *, reports: bool) -> None:
        assert out.parent.is_dir()
        assert reports is full
        raise KeyboardInterrupt

    monkeypatch.setattr("serve.offline.judge_rows", stopped)
    chosen = ("--base", "smollm2-135m", "--adapter", "none", *(("--full",) if full else ()))
    found = _run("culturalbench", "--sources", tmp_path, *chosen, "--out", out)
    assert "Nothing is kept" in found.stderr


@pytest.mark.parametrize("options", [["--base", "smollm2-135m"], ["--json"], ["--split", "test"]])
def test_an_option_before_a_command_that_would_not_see_it_is_refused(tmp_path: Path, options: list[str]) -> None:
    with pytest.raises(UserError, match=f"{options[0]} stands before `culturalbench`") as refused:
        CliRunner().invoke(evaluate, [*options, "culturalbench", "--sources", str(tmp_path)], catch_exceptions=False)
    assert f"evaluate culturalbench {options[0]}" in refused.value.fix


def test_a_command_without_anything_to_judge_says_what_to_give(tmp_path: Path, data: Path) -> None:
    nothing = _run("--out", tmp_path)
    assert isinstance(nothing.exception, UserError)
    assert "--data" in nothing.exception.fix
    tuned = _run("--data", data, "--out", tmp_path, "--baseline", "counting", "--adapter", "x")
    assert isinstance(tuned.exception, UserError)
    assert "untuned" in tuned.exception.message


def test_two_runs_do_not_judge_into_one_folder(data: Path, tmp_path: Path) -> None:
    """Each counts the parts that are there, and so they would overwrite each other's verdicts."""
    nothing_there = ("--data", tmp_path, "--out", tmp_path / "out")
    assert "there is no" in str(_run(*nothing_there).exception)
    with FileLock(tmp_path / "out" / ".lock"):
        refused = _run("--data", data, "--out", tmp_path / "out").exception
    assert isinstance(refused, UserError)
    assert "another run is at work" in refused.message
    assert "there is no" in str(_run(*nothing_there).exception), "the first has ended: its lock is free"


def _engines() -> set[int]:
    module = sys.modules.get("vllm.v1.engine.async_llm")
    return {id(one) for one in gc.get_objects() if module and isinstance(one, module.AsyncLLM)}


@pytest.mark.engine
def test_a_killed_run_goes_on_with_a_real_engine_and_judges_nothing_twice(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half of twelve samples lie there as an earlier run left them; the command judges the rest and reports on all.

    Of its engine nothing is left: neither sockets, nor the engine itself for the interpreter's end to stumble over.
    """
    config, out = tmp_path / "judge.yaml", tmp_path / "out"
    config.write_text("{max_prompt_tokens: 512, max_report_tokens: 128, engine: {cpu_threads: 1}}", "utf-8")
    plan = Plan(data, "test", None, None, None, reports=False)
    run = facts(plan, prepare(JudgeSettings.load(config, base="smollm2-135m", adapter="none")))
    samples = pq.read_table(data / "test.parquet")
    half = [row | {"status": "correct", "p_error": 0.125, "p_report": 0.5} for row in samples.slice(0, 6).to_pylist()]
    Parts(out, run).add(half)

    before = _engines()
    with TemporaryDirectory() as temporary:  # sockets have short names
        monkeypatch.setattr(tempfile, "tempdir", temporary)
        done = _run("--data", data, *SMALL, config, "--out", out, "--json")
        assert [path for path in Path(temporary).rglob("*") if path.is_socket()] == []
    assert done.exit_code == 0, done.output
    assert _engines() <= before
    judged = Judged.read(out)
    assert judged.run == run
    assert judged.table["sample_id"].to_pylist() == samples["sample_id"].to_pylist()
    assert judged.numbers("p_error")[:6].tolist() == [0.125] * 6, "what was judged is not judged again"
    assert all(0 < p < 1 and p != 0.125 for p in judged.numbers("p_error")[6:])
    assert not judged.failed.any()
    assert run.parameters is not None
    assert 130e6 < run.parameters < 140e6
    assert (out / "report.md").is_file()
    assert not (out / "parts").exists()
    assert json.loads(done.stdout)["run"]["judge"] == "smollm2-135m untuned"


@pytest.mark.engine
def test_a_baseline_prompt_is_asked_and_unreadable_answers_are_counted(data: Path, tmp_path: Path) -> None:
    config = tmp_path / "judge.yaml"
    config.write_text("{max_prompt_tokens: 512, engine: {cpu_threads: 1}}", "utf-8")
    small = ("--base", "smollm2-135m", "--judge-config", config, "--answer-tokens", 48, "--limit", 2)
    done = _run("--data", data, *small, "--baseline", "binary", "--out", tmp_path / "out")
    assert done.exit_code == 0, done.output
    assert "answers not readable" in done.stdout
    judged = Judged.read(tmp_path / "out")
    assert len(judged) == 6
    assert judged.run.judge == "smollm2-135m bin"
    written = judged.table["written"].to_pylist()
    assert all(text is not None for text in written)
    assert all(0 < p <= 1 for p in judged.table["p_report"].to_pylist())


def test_decisions_of_a_training_run_are_measured_without_an_engine(data: Path, tmp_path: Path) -> None:
    import numpy as np

    from train.examples import LABELS
    from train.figures import Decisions

    labels = [LABELS.index(label) for label in pq.read_table(data / "test.parquet")["label"].to_pylist()]
    order = np.arange(len(labels))[::-1]
    Decisions(order, np.float32(4.0) * np.eye(3, dtype=np.float32)[labels][order]).save(tmp_path / "kept.npz")
    options = ("--data", data, "--base", "smollm2-135m", "--adapter", "none", "--no-plots", "--json", "--decisions")
    found = _run(*options, tmp_path / "kept.npz", "--out", tmp_path / "out")
    assert found.exit_code == 0, found.output
    judged = Judged.read(tmp_path / "out")
    assert judged.right[judged.cultural].all()
    assert set(judged.strings("status")[~judged.cultural]) == {"not_applicable"}

    again = _run(*options, tmp_path / "kept.npz", "--out", tmp_path / "out")
    assert again.stdout == found.stdout

    refused = _run(*options, tmp_path / "kept.npz", "--limit", 2, "--out", tmp_path / "other")
    assert "12 decisions" in str(refused.exception)
    for asked in (("--reports",), ("--baseline", "counting")):
        assert "no reports" in str(_run(*options, tmp_path / "kept.npz", *asked, "--out", tmp_path / "other").exception)
    Decisions(order, np.zeros((12, 3), np.float32)).save(tmp_path / "other.npz")
    other = _run(*options, tmp_path / "other.npz", "--out", tmp_path / "out")
    assert "holds another run (decisions_sha256" in str(other.exception)
    Decisions(order, np.zeros((len(order), 3), np.float32), "hash of dev").save(tmp_path / "dev.npz")
    assert "other data" in str(_run(*options, tmp_path / "dev.npz", "--out", tmp_path / "of-dev").exception)
    assert "names no adapter" in (tmp_path / "out" / "report.md").read_text("utf-8")
    Decisions(order, np.zeros((len(order), 3), np.float32), adapter="a" * 64).save(tmp_path / "tuned.npz")
    tuned = _run(*options, tmp_path / "tuned.npz", "--out", tmp_path / "tuned")
    assert "decisions of another adapter than none" in str(tuned.exception)
    (tmp_path / "broken.npz").write_bytes(b"PK")
    assert "holds no decisions" in str(_run(*options, tmp_path / "broken.npz", "--out", tmp_path / "third").exception)
