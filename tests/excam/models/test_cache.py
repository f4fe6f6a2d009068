"""Folders of the cache appear whole or not at all, made by one process at a time."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from excam.fault import UserError
from excam.models.cache import MANIFEST, appearing, cache_root, digests, is_whole, only_one

FACTS: dict[str, object] = {"origin": "x", "converter": 1}
BUILD = """
import sys, time
from pathlib import Path
from excam.models.cache import appearing, digests, is_whole, only_one
root, seconds, name = Path(sys.argv[1]), float(sys.argv[2]), sys.argv[3]
facts = {"origin": "x", "converter": 1}
with only_one(root, name):
    if not is_whole(root / "models" / name, facts, digests(root)):
        with appearing(root, root / "models" / name, facts) as draft:
            (draft / "weights").write_bytes(b"half")
            print("building", flush=True)
            time.sleep(seconds)
            (draft / "weights").write_bytes(b"whole")
"""


def _build(root: Path, seconds: float, name: str = "m") -> subprocess.Popen[str]:
    command = [sys.executable, "-c", BUILD, str(root), str(seconds), name]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


@pytest.fixture
def little_room() -> Iterator[None]:
    """No file may grow beyond 4 KiB, as if the disk were full."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 12, hard))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.fixture
def made(cache: Path) -> Path:
    target = cache / "models" / "m"
    with only_one(cache, "m"), appearing(cache, target, FACTS) as draft:
        (draft / "weights").write_bytes(b"whole")
        (draft / "config.json").write_text("{}")
    return target


@pytest.mark.parametrize("killed_at", ["m", "another"])
def test_a_process_killed_half_way_leaves_nothing_and_blocks_nobody(cache: Path, killed_at: str) -> None:
    """Nor does it when it was at work on another model, that may never be made again."""
    with _build(cache, 60, killed_at) as killed:
        assert killed.stdout is not None
        assert killed.stdout.readline() == "building\n"
        killed.kill()
    assert not (cache / "models").exists()
    assert list((cache / "tmp").iterdir()) != []
    with _build(cache, 0) as second:
        assert second.wait(300) == 0
    assert (cache / "models" / "m" / "weights").read_bytes() == b"whole"
    assert list((cache / "tmp").iterdir()) == []


@pytest.mark.processes
def test_of_processes_that_start_together_one_builds(cache: Path) -> None:
    builders = [_build(cache, 0.3) for _ in range(4)]
    printed = [builder.communicate(timeout=300)[0] for builder in builders]
    assert [builder.returncode for builder in builders] == [0, 0, 0, 0]
    assert sorted(printed) == ["", "", "", "building\n"]


def test_who_has_to_wait_is_told(cache: Path) -> None:
    said: list[str] = []
    with _build(cache, 60) as holder:

        def told(step: str, done: int, total: int) -> None:
            said.append(step)
            holder.kill()

        assert holder.stdout is not None
        holder.stdout.readline()
        with only_one(cache, "m", told):
            pass
    assert said == ["waiting for another process that works on m"]


def test_a_failure_while_building_leaves_nothing(cache: Path) -> None:
    def fail() -> None:
        with appearing(cache, cache / "models" / "m", FACTS) as draft:
            (draft / "weights").write_bytes(b"half")
            raise ValueError("no space")

    with pytest.raises(ValueError, match="no space"):
        fail()
    assert not (cache / "models").exists()
    assert list((cache / "tmp").iterdir()) == []


@pytest.mark.usefixtures("little_room")
def test_weights_that_find_no_room_are_a_fault_that_says_where(cache: Path) -> None:
    def fill() -> None:
        with appearing(cache, cache / "models" / "m", FACTS) as draft:
            save_file({"x": np.zeros(1 << 12)}, draft / "model.safetensors")

    with pytest.raises(UserError, match=f"{cache}/models/m cannot be written") as fault:
        fill()
    assert "EXCAM_CACHE" in fault.value.fix
    assert list((cache / "tmp").iterdir()) == []


def test_what_was_made_is_whole(made: Path, cache: Path) -> None:
    assert is_whole(made, FACTS, digests(cache))
    assert set(json.loads((made / MANIFEST).read_text())["files"]) == {"weights", "config.json"}


@pytest.mark.parametrize("damage", ["flipped", "shorter", "gone", "manifest gone", "manifest shorter", "manifest odd"])
def test_any_damage_is_seen(made: Path, cache: Path, damage: str) -> None:
    weights, manifest = made / "weights", made / MANIFEST
    match damage:
        case "flipped":
            weights.write_bytes(b"whole"[::-1])
        case "shorter":
            weights.write_bytes(b"who")
        case "gone":
            weights.unlink()
        case "manifest gone":
            manifest.unlink()
        case "manifest shorter":
            manifest.write_bytes(manifest.read_bytes()[:30])
        case "manifest odd":
            manifest.write_text("[]")
    assert not is_whole(made, FACTS, digests(cache))


def test_what_another_converter_made_is_not_taken(made: Path, cache: Path) -> None:
    assert not is_whole(made, {**FACTS, "converter": 2}, digests(cache))


def test_a_damaged_folder_is_replaced(made: Path, cache: Path) -> None:
    (made / "weights").write_bytes(b"bad")
    with appearing(cache, made, FACTS) as draft:
        (draft / "weights").write_bytes(b"new")
    assert is_whole(made, FACTS, digests(cache))
    assert sorted(path.name for path in made.iterdir()) == [MANIFEST, "weights"]


def test_the_cache_is_where_the_user_wants_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXCAM_CACHE", str(tmp_path))
    assert cache_root() == tmp_path
    assert cache_root(Path("/elsewhere")) == Path("/elsewhere")
    monkeypatch.delenv("EXCAM_CACHE")
    assert cache_root() == Path.home() / ".cache" / "excam"
