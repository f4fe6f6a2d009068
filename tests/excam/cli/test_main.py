"""The command line as a whole: every command loads, help is light, mistakes come with their fix."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from excam.cli import COMMANDS, cli, main
from excam.fault import UserError

HEAVY = ("ray", "torch", "vllm", "transformers")


def run_without(modules: tuple[str, ...], *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run excam in a process in which these packages cannot be imported, as if they were not installed."""
    code = (
        f"import sys\nfor name in {modules!r}: sys.modules[name] = None\nfrom excam.cli import main\nmain(sys.argv[1:])"
    )
    return subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(command: str) -> None:
    answer = CliRunner().invoke(cli, [command, "--help"])
    assert answer.exit_code == 0, answer.output
    assert "Usage:" in answer.output


def test_help_loads_nothing_but_the_command_line_itself() -> None:
    code = (
        "import sys\nfrom excam.cli import main\ntry: main(['--help'])\nexcept SystemExit: pass\n"
        "print(sorted({name.split('.')[0] for name in sys.modules} & "
        "{'ray', 'torch', 'vllm', 'duckdb', 'pyarrow', 'numpy', 'rich'}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.processes
def test_a_store_can_be_made_and_asked_on_a_plain_install(tmp_path: Path) -> None:
    store = f"ducklake:sqlite:{tmp_path}/catalog.sqlite"
    assert run_without(HEAVY, "store", "init", "--store", store).returncode == 0
    assert "holds no verdicts yet" in run_without(HEAVY, "trends", "--store", store).stderr
    assert run_without(HEAVY, "runs", "--store", store).returncode == 0


def test_judging_without_the_engine_says_what_to_install(tmp_path: Path) -> None:
    done = run_without(HEAVY, "score", str(tmp_path), "--store", f"ducklake:sqlite:{tmp_path}/c.sqlite")
    assert done.returncode != 0
    assert "excam[cpu]" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("pair", [("", "a"), ("q", ""), ("q", "\udcff")])
def test_a_pair_that_is_none_is_a_mistake_before_any_judge_starts(pair: tuple[str, str]) -> None:
    answer = CliRunner().invoke(cli, ["judge", "try", *pair])
    assert isinstance(answer.exception, UserError)
    assert answer.exception.message.startswith("output" if pair[0] else "instruction")


def test_building_a_dataset_without_its_packages_names_their_extra(tmp_path: Path) -> None:
    (tmp_path / "mango").mkdir()
    fact = {"id": "1", "concept": "tea", "culture": "Japan", "assertion": "Tea is green."}
    (tmp_path / "mango" / "mango.jsonl").write_text(json.dumps(fact))
    done = run_without(("datasketch",), "dataset", "build", "--sources", str(tmp_path), "--out", str(tmp_path / "out"))
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == "  fix: pip install 'excam[dataset]'"


def test_looking_at_a_store_in_a_browser_asks_for_no_judge(tmp_path: Path) -> None:
    done = run_without((*HEAVY, "uvicorn"), "dashboard", "--store", f"ducklake:sqlite:{tmp_path}/c.sqlite")
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == "  fix: pip install 'excam[dashboard]'"


def run(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    given = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True} | options
    return subprocess.run([sys.executable, "-m", "excam.cli", *arguments], check=False, timeout=120, **given)


@pytest.mark.processes
def test_what_the_system_refuses_is_told_without_a_traceback(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = run("store", "init", "--store", f"ducklake:sqlite:{tmp_path}/file/catalog.sqlite")
    assert (done.returncode, done.stderr.splitlines()) == (
        2,
        [f"excam: {tmp_path}/file: File exists", "  fix: name another file or folder"],
    )


@pytest.mark.processes
def test_a_cache_that_cannot_be_made_says_which_variable_names_another(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = run("adapters", "pull", str(tmp_path), env=os.environ | {"EXCAM_CACHE": f"{tmp_path}/file/excam"})
    assert done.returncode == 2
    assert f"{tmp_path}/file" in done.stderr
    assert "EXCAM_CACHE" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.processes
@pytest.mark.parametrize("arguments", [["judge", "--help"], ["models", "list", "--json"], ["models", "list"]])
def test_output_that_finds_no_room_is_one_message_and_no_success(arguments: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        done = run(*arguments, stdout=full)
    assert done.returncode == 2
    assert done.stderr.splitlines() == ["excam: No space left on device", "  fix: make room, or name another place"]


@pytest.mark.processes
@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-"])
def test_output_that_nobody_wants_is_no_failure(closed: str) -> None:
    command = f"{shlex.quote(sys.executable)} -m excam.cli models list {closed}"
    done = subprocess.run(command, shell=True, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.processes
def test_a_log_that_does_not_start_is_told_in_plain_words() -> None:
    done = run("models", "list", env=os.environ | {"EXCAM_LOG": "json", "EXCAM_LOG_LEVEL": "loud"})
    assert done.returncode == 2
    assert done.stderr.startswith("excam: EXCAM_LOG_LEVEL is 'LOUD'\n  fix: ")


def test_a_mistake_prints_what_is_wrong_and_how_to_mend_it(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["trends", "--store", "nonsense"])
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert "not a store URL" in said
    assert "fix:" in said
