"""The commands that ask a store: tables for people, JSON and CSV for programs, mistakes with a fix."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner, Result

from excam.cli import main
from excam.cli.dead_letters import dead_letters
from excam.cli.judges import judges
from excam.cli.options import Country
from excam.cli.replay import whole_ids
from excam.cli.runs import runs
from excam.cli.show import show
from excam.cli.store import store as store_group
from excam.cli.trends import trends
from excam.cli.worst import worst
from excam.fault import UserError
from excam.store import NoStoreError, Store
from excam.store.snapshot import TABLES
from tests.excam.store.outcomes import CARD, JUDGE, START, TUNED, dead_letter, error, put, put_run, rows_of, verdict

HOSTILE = "\x1b[31mred\x1b[0m \u202eback [bold]not markup[/bold]"
LONG = "word " * 100


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> str:
    url = f"ducklake:sqlite:{tmp_path_factory.mktemp('cli')}/catalog.sqlite"
    with Store.open(url) as store:
        put_run(
            store,
            verdict(0, errors=[error(start=9, end=18, explanation=HOSTILE, type=HOSTILE)], score=-5.0),
            verdict(1),
            verdict(2, status="not_applicable", app=HOSTILE),
            verdict(3, country="JP", output=HOSTILE, app=HOSTILE),
            dead_letter(9, detail=HOSTILE, record=json.dumps({"prompt": LONG, "output": HOSTILE})),
        )
    return url


def run(command: click.Command, url: str, *arguments: str) -> Result:
    result = CliRunner(env={"EXCAM_STORE": url, "COLUMNS": None}).invoke(command, arguments, catch_exceptions=False)
    if not {"--json", "--csv"} & set(arguments):
        assert "\x1b" not in result.output
        assert "\u202e" not in result.output
    return result


def load(command: click.Command, url: str, *arguments: str) -> Any:
    return json.loads(run(command, url, *arguments, "--json").output)


def test_a_trend_table_names_the_judge_the_country_and_the_interval(url: str) -> None:
    printed = run(trends, url, "--bucket", "month").output
    assert f"judge {JUDGE}" in printed.splitlines()[0]
    assert "UNTUNED" in printed.splitlines()[0]
    (indonesia,) = [line for line in printed.splitlines() if line.startswith("ID Indonesia")]
    assert indonesia.split() == ["ID", "Indonesia", "2025-03-01", "2", "1", "50.0", "%", "9.5–90.5", "%", "–", "–"]


@pytest.mark.parametrize("columns", ["20", "30", "40", "60", "80"])
def test_every_figure_is_whole_however_narrow_the_terminal(url: str, columns: str) -> None:
    asked = {"EXCAM_STORE": url, "COLUMNS": columns}
    printed = CliRunner(env=asked).invoke(trends, ["--bucket", "month"], catch_exceptions=False).output
    (indonesia,) = [line for line in printed.splitlines() if line.startswith("ID Indonesia")]
    assert indonesia.split() == ["ID", "Indonesia", "2025-03-01", "2", "1", "50.0", "%", "9.5–90.5", "%", "–", "–"]
    for line in CliRunner(env=asked).invoke(runs, catch_exceptions=False).output.splitlines()[1:]:
        assert not [cell for cell in line.split() if len(cell) == 1 and cell.isalpha()], "no text is folded to letters"


def test_what_stdout_cannot_write_becomes_escapes_and_json_stays_json(url: str) -> None:
    command = [sys.executable, "-m", "excam.cli", "show", "p3", "--store", url]
    ascii_only = os.environ | {"PYTHONIOENCODING": "ascii"}
    done = subprocess.run([*command, "--json"], env=ascii_only, capture_output=True, check=True)
    assert json.loads(done.stdout.decode("ascii"))["output"] == HOSTILE
    trend = [sys.executable, "-m", "excam.cli", "trends", "--store", url]
    assert b"9.5\\u201390.5 %" in subprocess.run(trend, env=ascii_only, capture_output=True, check=True).stdout


def test_a_trend_as_json_and_csv_holds_the_same_rows(url: str) -> None:
    rows = load(trends, url, "--by", "app")["rows"]
    table = list(csv.DictReader(io.StringIO(run(trends, url, "--by", "app", "--csv").output)))
    assert [(row["group"], str(row["n"]), str(row["rate"])) for row in rows] == [
        (row["group"], row["n"], row["rate"]) for row in table
    ]
    assert {row["judge_version"] for row in table} == {JUDGE}


@pytest.mark.parametrize("command", [trends, worst])
@pytest.mark.parametrize("forms", [["--json", "--csv"], ["--csv", "--json"]])
def test_two_forms_of_output_at_once_are_refused(url: str, command: click.Command, forms: list[str]) -> None:
    refused = run(command, url, *forms)
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "choose one" in refused.stderr


def test_a_slice_is_chosen_by_name_day_and_app(url: str) -> None:
    rows = load(
        trends, url, "--country", "Jepang", "--since", str(START.date()), "--until", "2025-03-04", "--app", HOSTILE
    )
    assert [(row["group"], row["n"]) for row in rows["rows"]] == [("JP", 1)]
    assert "No judged pair" in run(trends, url, "--since", "1d").output


@pytest.mark.parametrize("country", ["JP", "jp", "Jepang", "JPN"])
def test_a_country_may_be_written_in_any_way(url: str, country: str) -> None:
    assert [row["group"] for row in load(trends, url, "--country", country)["rows"]] == ["JP"]


@pytest.mark.parametrize(("country", "code"), [("UK", "GB"), ("uk", "GB"), ("EL", "GR"), ("NA", "NA")])
def test_two_capitals_are_read_like_any_other_name(country: str, code: str) -> None:
    assert Country().convert(country, None, None) == code


@pytest.mark.parametrize("language", ["en", "EN", "English", "en-GB"])
def test_a_language_may_be_written_in_any_way(url: str, language: str) -> None:
    assert load(trends, url, "--language", language)["rows"] == load(trends, url)["rows"] != []


@pytest.mark.parametrize(
    "arguments",
    [
        ["--country", "Atlantis"],
        ["--country", "ZZ"],
        ["--since", "yesterday-ish"],
        ["--since", "99999y"],
        ["--by", "weather"],
        ["--bucket", "hour"],
    ],
)
def test_a_mistyped_option_is_explained(url: str, arguments: list[str]) -> None:
    result = run(trends, url, *arguments)
    assert result.exit_code == 2
    assert arguments[1] in result.output


def test_a_country_that_is_nearly_right_is_suggested(url: str) -> None:
    assert "did you mean Indonesia, ID?" in run(trends, url, "--country", "indonesa").output


@pytest.mark.parametrize("command", [trends, worst])
def test_days_between_which_nothing_lies_are_refused(url: str, command: click.Command) -> None:
    with pytest.raises(UserError, match="--since 2025-03-04 is not before --until 2025-03-04"):
        run(command, url, "--since", "2025-03-04", "--until", "2025-03-04")


def test_the_worst_reports_are_listed_with_what_is_wrong(url: str) -> None:
    printed = run(worst, url, "--country", "ID").output
    assert "-5  p0" in printed
    assert "“left hand”" in printed
    assert [pair["pair_id"] for pair in load(worst, url)["pairs"]] == ["p0"]
    assert run(worst, url, "--csv").output.splitlines()[1].startswith("p0,-5.0,")


def test_a_pair_is_shown_with_its_spans_in_brackets_and_escapes_written_out(url: str) -> None:
    printed = run(show, url, "p0").output
    assert "With the [1: left hand]." in printed
    assert "1. major: \\x1b[31mred\\x1b[0m \\u202eback [bold]not markup[/bold]" in printed
    assert "\\u202eback" in run(show, url, "p3").output
    assert load(show, url, "p0")["verdicts"][0]["errors"][0]["start"] == 9


def test_of_a_pair_that_several_judged_the_verdict_of_the_judge_that_was_named_is_shown(tmp_path: Path) -> None:
    url = f"ducklake:sqlite:{tmp_path}/catalog.sqlite"
    with Store.open(url) as store:
        for judge in (CARD, TUNED):
            put(store, verdict(0), judge=judge)
    assert len(load(show, url, "p0")["verdicts"]) == 2
    assert [one["judge_version"] for one in load(show, url, "p0", "--judge", JUDGE[:6])["verdicts"]] == [JUDGE]


def test_a_pair_is_shown_in_colour_on_a_terminal(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm-256color")
    printed = CliRunner(env={"EXCAM_STORE": url}).invoke(show, ["p0"], catch_exceptions=False).output
    assert "\x1b[1;31mleft hand" in printed
    assert "\x1b[31mred" not in printed


def test_unknown_pairs_and_judges_are_mistakes_with_a_fix(url: str) -> None:
    for arguments in (["nobody"], ["p0", "--judge", "zzz"]):
        with pytest.raises(UserError) as refused:
            run(show, url, *arguments)
        assert refused.value.fix


def test_dead_letters_are_listed_and_shown_with_their_record(url: str) -> None:
    assert "missing_output" in run(dead_letters, url, "list").output
    (letter,) = load(dead_letters, url, "list")
    printed = run(dead_letters, url, "show", letter["dead_id"][:8]).output
    assert '"output": "\\u001b[31mred\\u001b[0m \\u202eback' in printed
    assert json.loads(printed.partition(" record\n")[2])["prompt"] == LONG, "no line of it is broken"
    assert "No open dead letters" in run(dead_letters, url, "list", "--reason", "no such reason").output


def test_dead_letters_to_replay_are_known_by_their_beginnings_and_one_that_is_not_there_is_refused(url: str) -> None:
    (letter,) = load(dead_letters, url, "list")
    assert whole_ids(url, [letter["dead_id"][:6]]) == [letter["dead_id"]]
    with pytest.raises(UserError, match="no dead letter 'mistyped'"):
        run(dead_letters, url, "replay", letter["dead_id"], "mistyped")


def test_judges_and_runs_are_listed(url: str) -> None:
    assert [(judge["judge_version"], judge["tuned"], judge["verdicts"]) for judge in load(judges, url)] == [
        (JUDGE, False, 4)
    ]
    assert "NO" in run(judges, url).output
    assert [run_["state"] for run_ in load(runs, url)] == ["done"]
    assert "score" in run(runs, url).output


def test_a_store_is_made_described_compacted_and_copied(tmp_path: Path) -> None:
    url = f"ducklake:sqlite:{tmp_path}/new/catalog.sqlite"
    assert "is ready" in run(store_group, url, "init").output
    info = load(store_group, url, "info")
    assert (info["store"], info["rows"]["pairs"], info["writer"]) == (url, 0, None)
    assert "being written by  nobody" in run(store_group, url, "info").output
    assert load(store_group, url, "compact", "--keep-days", "0")["after"]["versions"] == 1
    assert "0 pairs" in run(store_group, url, "snapshot", str(tmp_path / "out.duckdb")).output


def test_the_help_of_a_snapshot_names_all_its_tables() -> None:
    told = CliRunner().invoke(store_group, ["snapshot", "--help"]).output
    assert [name for name in TABLES if name not in told] == []


def test_a_store_is_backed_up_forgets_a_person_and_is_restored(tmp_path: Path) -> None:
    url, again = (f"ducklake:sqlite:{tmp_path}/{name}/catalog.sqlite" for name in ("one", "two"))
    with Store.open(url) as store:
        put(store, verdict(0, metadata='{"user": {"id": 4711}}', errors=[error()]), verdict(1), verdict(300))
    folder = load(store_group, url, "backup", str(tmp_path / "backups"))["folder"]
    both_days = ["--before", "2025-03-04", "--older-than", "2025-04-01"]
    assert load(store_group, url, "forget", *both_days)["pairs"] == 2, "of several conditions all must hold"
    person = ["forget", "--where", "user.id=4711"]
    assert "Would delete 1 pairs" in run(store_group, url, *person).output
    assert load(store_group, url, "info")["rows"]["pairs"] == 3, "nothing is deleted unasked"
    assert load(store_group, url, *person, "--yes")["pairs"] == 1
    assert load(store_group, url, "forget", "--older-than", "2025-03-10", "--pair", "p1", "--yes")["pairs"] == 1
    assert load(store_group, url, "info")["rows"] == load(store_group, url, "info")["rows"] | {"pairs": 1, "texts": 1}
    assert "3 pairs" in run(store_group, again, "restore", folder).output
    assert load(store_group, again, "info")["rows"]["pairs"] == 3
    assert "NAME=VALUE" in run(store_group, url, "forget", "--where", "user.id").output
    with pytest.raises(UserError, match="which pairs"):
        run(store_group, url, "forget", "--yes")
    with pytest.raises(UserError, match="the place for the backup has an empty name"):
        run(store_group, url, "backup", "")


@pytest.mark.parametrize("arguments", [["show", "p\udcff"], ["trends", "--app", "\udcff"]])
def test_an_argument_that_is_no_utf8_is_named(
    url: str, capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        main([*arguments, "--store", url])
    assert capsys.readouterr().err.startswith(f"excam: the argument {arguments[-1]!r} is not UTF-8\n  fix: ")


@pytest.mark.parametrize("arguments", [["forget", "--pair", "p0", "--yes"], ["compact"]])
def test_what_changes_a_store_makes_none_where_the_url_is_mistyped(tmp_path: Path, arguments: list[str]) -> None:
    with pytest.raises(NoStoreError, match="there is no store at"):
        run(store_group, f"ducklake:sqlite:{tmp_path}/mistyped/catalog.sqlite", *arguments)
    assert list(tmp_path.iterdir()) == []


def test_a_store_whose_file_was_damaged_says_which(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    url = f"ducklake:sqlite:{tmp_path}/catalog.sqlite"
    with Store.open(url) as store:
        put(store, *(verdict(number) for number in range(20)))
        file = str(rows_of(store, "FROM ducklake_list_files('lake', 'verdicts')")[0]["data_file"])
    Path(file).write_bytes(b"PAR1 and no more of it")
    with pytest.raises(SystemExit, match="2"):
        main(["trends", "--store", url])
    said = capsys.readouterr().err
    assert said.startswith("excam: the store cannot be read: ")
    assert file in said
    assert "excam store restore" in said


@pytest.mark.parametrize("command", [trends, worst, show, judges, runs, dead_letters, store_group])
def test_every_command_explains_itself(command: click.Command) -> None:
    result = CliRunner().invoke(command, ["--help"])
    assert result.exit_code == 0
    assert len(result.output.splitlines()) > 5
