"""`.ci/environment` makes the environment once, and again where it cannot be used any more."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

# uv makes an environment and, like the real one, does not touch one that is there unless it is told to clear it.
UV = """#!/bin/sh
[ "$1" = venv ] || exit 0
case "$*" in *--clear*) rm -rf .venv;; esac
mkdir .venv && mkdir .venv/bin && ln -s /bin/true .venv/bin/python && echo made
"""


@pytest.fixture
def make(tmp_path: Path) -> list[str]:
    script = tmp_path / ".ci" / "environment"
    uv = tmp_path / ".cache" / "bootstrap" / "bin" / "uv"
    for file in (script, uv):
        file.parent.mkdir(parents=True)
    shutil.copy(Path(__file__).parents[1] / ".ci" / "environment", script)
    uv.write_text(UV)
    uv.chmod(0o755)
    (tmp_path / "requirements.lock").write_text("six==1.17.0\n")
    (tmp_path / "pyproject.toml").write_text("")
    return [str(script)]


def made(make: list[str]) -> bool:
    path = f"{Path(sys.executable).parent}:/usr/bin:/bin"
    return subprocess.run(make, env={"PATH": path}, capture_output=True, text=True, check=True).stdout == "made\n"


def test_an_environment_is_made_once_for_each_state_of_the_lock(make: list[str], tmp_path: Path) -> None:
    assert [made(make), made(make)] == [True, False]
    (tmp_path / "requirements.lock").write_text("six==1.16.0\n")
    assert not made(make), "what is there is brought up to date"


def test_an_environment_whose_python_is_gone_is_made_anew(make: list[str], tmp_path: Path) -> None:
    made(make)
    python = tmp_path / ".venv" / "bin" / "python"
    python.unlink()
    python.symlink_to("/usr/bin/python-of-an-older-system")
    assert made(make)
