from __future__ import annotations

import gzip
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from filelock import FileLock

from excam.cli.dataset import dataset
from excam.dataset.gather import gather
from excam.dataset.review import read_votes
from excam.dataset.soft_file import SoftRow, write_soft
from excam.fault import UserError


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("cli")
    rows = [
        {"country": country, "question": f"How do you feel about matter {number * 37} of life in {number} words?",
         "options": ["Good", "Bad"], "distribution": [0.8, 0.2] if (number + place) % 2 else [0.2, 0.8]}
        for number in range(30) for place, country in enumerate(("Spain", "Japan"))
    ]  # fmt: skip
    path = root / "sources" / "globalopinionqa" / "pairs.jsonl.gz"
    path.parent.mkdir(parents=True)
    path.write_bytes(gzip.compress("\n".join(map(json.dumps, rows)).encode()))
    found = CliRunner().invoke(
        dataset, ["build", "--sources", str(root / "sources"), "--out", str(root / "out"), "--profile", "paper"]
    )
    assert found.exit_code == 0, found.output
    assert "missing: blend" in found.output
    assert "train:" in found.output
    return root / "out"


def test_the_card_and_the_leak_check_are_shown(folder: Path) -> None:
    runner = CliRunner()
    assert "ExCAM40k" in runner.invoke(dataset, ["card", str(folder)]).output
    assert "globalopinionqa" in runner.invoke(dataset, ["leak", str(folder)]).output


def test_a_review_is_recorded_broken_off_and_resumed(folder: Path, tmp_path: Path) -> None:
    arguments = ["review", str(folder / "train.parquet"), "--votes", str(tmp_path), "--reviewer", "ann", "--count", "3"]
    runner = CliRunner()
    first = runner.invoke(dataset, arguments, input="y\nv\np\ny\nq\n")
    assert "1 votes by ann" in first.output
    second = runner.invoke(dataset, arguments, input="n\nn\nn\nn\ns\n")
    assert "1 of 2" in second.output
    assert [(vote.culture_related, vote.error_valid) for vote in read_votes(tmp_path)] == [
        (True, "valid"),
        (False, "not valid"),
    ]
    report = runner.invoke(dataset, ["review", "unused", "--votes", str(tmp_path), "--report", "--voters", "1"]).output
    assert report.splitlines()[1].split() == ["culture", "related", "50.0", "50.0"]


def test_mistakes_are_named(tmp_path: Path) -> None:
    found = CliRunner().invoke(dataset, ["card", str(tmp_path)])
    assert isinstance(found.exception, UserError)
    found = CliRunner().invoke(dataset, ["review", "x", "--votes", str(tmp_path)])
    assert isinstance(found.exception, UserError)
    found = CliRunner().invoke(dataset, ["review", "x", "--votes", str(tmp_path), "--report"])
    assert isinstance(found.exception, UserError)
    assert "no sample in" in str(found.exception)


@pytest.mark.parametrize("content", [b"no table", None])
def test_a_file_that_is_no_table_of_ours_is_named(tmp_path: Path, content: bytes | None) -> None:
    for path in (tmp_path / "test.parquet", tmp_path / "votes-ann.parquet"):
        path.write_bytes(content) if content else pq.write_table(pa.table({"other": [1]}), path)
    file, folder = str(tmp_path / "test.parquet"), str(tmp_path)
    for arguments in (
        ["leak", folder],
        ["review", file, "--votes", str(tmp_path / "new"), "--reviewer", "bob"],
        ["review", file, "--votes", folder, "--reviewer", "ann"],
        ["build", "--sources", folder, "--out", folder, "--soft", file],
    ):
        found = CliRunner().invoke(dataset, arguments)
        assert isinstance(found.exception, UserError), arguments
        assert ".parquet" in str(found.exception)


def test_soft_errors_of_other_items_are_counted(folder: Path, tmp_path: Path) -> None:
    soft = write_soft(tmp_path, [SoftRow("calmqa:9", "m", "minor", "x", "i", "o", "i", "p", "{}", "valid", None)])
    wanted = ["build", "--sources", str(folder.parent / "sources"), "--out", str(tmp_path / "out"), "--soft", str(soft)]
    found = CliRunner().invoke(dataset, [*wanted, "--profile", "paper"])
    assert "1 soft errors are of items that this build does not hold" in found.output


def test_soft_errors_name_what_is_missing_and_what_is_no_source(folder: Path, tmp_path: Path) -> None:
    wanted = ["soft", "--sources", str(folder.parent / "sources"), "--out", str(tmp_path), "--model", "m"]
    wanted += ["--endpoint", "http://127.0.0.1:9/v1", "--source", "globalopinionqa", "--source", "mango"]
    items = gather(folder.parent / "sources").items
    tried = [
        SoftRow(item.item_id, "m", "minor", "x", item.question, item.gold, None, None, None, "no_json", None)
        for item in items
    ]
    write_soft(tmp_path, tried)
    found = CliRunner().invoke(dataset, wanted)
    assert "missing: mango" in found.output
    assert "nothing to do: m was asked about all 60 items" in found.output
    found = CliRunner().invoke(dataset, [*wanted, "--source", "mangoes"])
    assert isinstance(found.exception, UserError)
    assert "no source 'mangoes'" in str(found.exception)


def test_a_source_that_was_not_read_to_its_end_is_told_of_and_so_is_one_that_gave_nothing(
    folder: Path, tmp_path: Path
) -> None:
    """A download that broke off stands for thousands of records, and would be counted as one."""
    root = tmp_path / "sources"
    shutil.copytree(folder.parent / "sources", root)
    whole = root / "globalopinionqa" / "pairs.jsonl.gz"
    whole.write_bytes(whole.read_bytes()[:-20])
    (root / "epic").mkdir()
    (root / "epic" / "annotations.jsonl.gz").write_bytes(b"")
    command = ["build", "--sources", str(root), "--out", str(tmp_path / "out"), "--profile", "paper"]
    told = CliRunner().invoke(dataset, command).stderr
    assert re.search(r"^look at globalopinionqa/pairs.jsonl.gz:\d+: file: cannot be read from here on", told, re.M)
    assert "look at epic: nothing in its files could be used" in told


@pytest.mark.parametrize(
    "command", [("build", "--profile", "paper"), ("soft", "--model", "m", "--endpoint", "http://x")]
)
def test_two_commands_do_not_write_into_one_folder(folder: Path, tmp_path: Path, command: tuple[str, ...]) -> None:
    """Splits of two builds would be mixed, and soft errors of two models would take each other's place."""
    with FileLock(tmp_path / ".lock"):
        given = [*command, "--sources", str(folder.parent / "sources"), "--out", str(tmp_path)]
        refused = CliRunner().invoke(dataset, given).exception
    assert isinstance(refused, UserError)
    assert "another run is at work" in refused.message
    assert [path.name for path in tmp_path.iterdir()] == [".lock"]


def test_help_imports_nothing_heavy() -> None:
    heavy = ("pyarrow", "nltk", "torch", "ray", "vllm", "babel")
    code = f"import sys, excam.cli.dataset; print([name for name in {heavy} if name in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
