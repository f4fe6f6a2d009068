"""The command line as a whole: every command loads, help is light, mistakes come with their fix."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from excam.cli import COMMANDS, cli, main

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


def test_a_mistake_prints_what_is_wrong_and_how_to_mend_it(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["trends", "--store", "nonsense"])
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert "not a store URL" in said
    assert "fix:" in said
