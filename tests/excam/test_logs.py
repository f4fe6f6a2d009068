"""Logs for machines: every line is JSON, names its run and pair, and holds nothing that anybody said."""

from __future__ import annotations

import io
import json
import logging
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest

from excam import logs
from excam.cli import main
from excam.cli.aside import aside
from excam.cli.stream_display import StreamDisplay
from excam.fault import UserError
from excam.store import Store
from tests.excam.store.outcomes import JUDGE, dead_letter, error, put_run, verdict

pytestmark = [pytest.mark.store, pytest.mark.processes]
HOSTILE = 'p7\n{"event": "forged"}\x1b[31m\u202e'


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> Iterator[io.StringIO]:
    """The log of this test, and afterwards loggers as they were."""
    root = logging.getLogger("excam")
    before = (root.handlers, root.level, root.propagate)
    monkeypatch.setenv(logs.VARIABLE, "json")
    monkeypatch.setenv(logs.LEVEL_VARIABLE, "debug")
    monkeypatch.setenv("RAY_SERVE_LOG_ENCODING", "TEXT")
    stream = io.StringIO()
    logs.start_logging(stream)
    yield stream
    root.handlers, root.level, root.propagate = before
    logs.unbind()


def read(stream: io.StringIO) -> list[dict[str, Any]]:
    assert stream.getvalue().isascii()
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_a_run_tells_of_its_commits_verdicts_and_dead_letters(lines: io.StringIO, tmp_path: Path) -> None:
    said = "what somebody said"
    with Store.open(f"ducklake:sqlite:{tmp_path}/catalog.sqlite") as store:
        put_run(
            store, verdict(0, errors=[error(explanation=said)], report=said), verdict(1, pair_id=HOSTILE, output=said)
        )
        put_run(
            store,
            verdict(0, instruction=f"{said}, other words"),
            dead_letter(9, pair_id="p9", record=said, detail=said),
        )
    told = read(lines)
    assert said not in lines.getvalue()
    assert [line["event"] for line in told] == [
        *("run_started", "committed", "verdict", "verdict", "run_ended"),
        *("run_started", "committed", "dead_letter", "dead_letter", "run_ended"),
    ]
    first, second = told[0]["run_id"], told[5]["run_id"]
    assert [line["run_id"] for line in told] == [first] * 5 + [second] * 5
    assert {line["judge_version"] for line in told} == {JUDGE}
    assert {(line["pair_id"], line["status"]) for line in told if line["event"] == "verdict"} == {
        ("p0", "error"),
        (HOSTILE, "correct"),
    }
    dead = {line["pair_id"]: (line["reason"], line["source"], line["row"]) for line in told[7:9]}
    assert dead == {
        "p0": ("pair_id_conflict", "file:///logs/a.parquet", 0),
        "p9": ("missing_output", "file:///logs/a.parquet", 9),
    }
    assert (told[1]["verdicts"], told[6]["conflicts"], told[9]["state"]) == (2, 1, "done")


def test_other_parts_of_excam_and_exceptions_are_lines_too(lines: io.StringIO) -> None:
    logs.bind(run_id="r1")
    try:
        raise ValueError("broken\nin two lines")
    except ValueError:
        logging.getLogger("excam.alerts").warning("could not tell %s", "anybody", exc_info=True)
    (line,) = read(lines)
    assert (line["logger"], line["level"], line["run_id"]) == ("excam.alerts", "warning", "r1")
    assert line["event"] == "could not tell anybody"
    assert "ValueError: broken\nin two lines" in line["exception"]


@pytest.mark.parametrize(("name", "value"), [(logs.VARIABLE, "yaml"), (logs.LEVEL_VARIABLE, "loud")])
def test_a_mistyped_setting_is_a_mistake_with_a_fix(
    name: str, value: str, lines: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(UserError, match=name):
        logs.start_logging(lines)


def test_a_command_tells_its_failure_as_a_line_and_is_silent_otherwise(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "excam.cli", "runs", "--store", f"ducklake:sqlite:{tmp_path}/none.sqlite"]
    told = subprocess.run(command, env=os.environ | {"EXCAM_LOG": "json"}, capture_output=True, text=True, check=False)
    (line,) = [json.loads(one) for one in told.stderr.splitlines()]
    assert (told.returncode, line["event"], line["level"]) == (2, "failed", "error")
    assert "there is no store" in line["error"]
    assert "excam store init" in line["fix"]


def test_a_streams_trouble_is_told_where_all_else_is_quiet(
    lines: io.StringIO, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def troubled() -> None:
        display = StreamDisplay(quiet=True)
        display.started("kafka://t", {0: 7})
        for _ in range(2):
            display.trouble(ConnectionError("broker away"), 1.0)
        display.recovered()

    troubled()
    assert capsys.readouterr().err == ""
    assert [line["event"] for line in read(lines)] == ["trouble", "recovered"]
    monkeypatch.delenv(logs.VARIABLE)
    monkeypatch.setattr(logging.getLogger("excam"), "handlers", [])
    troubled()
    assert capsys.readouterr().err == "trouble: ConnectionError: broker away; trying again\nwell again after 0 s\n"


@pytest.mark.usefixtures("lines")
@pytest.mark.parametrize(
    ("raised", "event", "status"),
    [
        (KeyboardInterrupt(), "interrupted", 1),
        (click.Abort(), "interrupted", 1),
        (click.FileError("rules.yaml", "no such file"), "failed", 2),
        (ZeroDivisionError("a defect"), "crashed", 1),
    ],
)
def test_however_a_command_ends_every_line_is_json(
    raised: BaseException,
    event: str,
    status: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def ends(**_: object) -> None:
        aside("something to know\nin two lines")
        raise raised

    monkeypatch.setattr("excam.cli.sample.sample.callback", ends)
    with pytest.raises(SystemExit, match=str(status)):
        main(["sample", "nowhere.parquet"])
    told = [json.loads(one) for one in capsys.readouterr().err.splitlines()]
    assert [line["event"] for line in told] == ["aside", event]


@pytest.mark.usefixtures("lines")
@pytest.mark.parametrize(
    ("arguments", "fix"),
    [
        (["trends", "--since", "soon"], "see excam trends --help"),
        (["stream"], "see excam stream run --help"),
        (["tends"], "see excam --help"),
    ],
)
def test_a_mistyped_command_is_told_as_a_line_too(
    arguments: list[str], fix: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(arguments)
    (line,) = [json.loads(one) for one in capsys.readouterr().err.splitlines()]
    assert (line["event"], line["fix"]) == ("failed", fix)
    assert line["error"]
