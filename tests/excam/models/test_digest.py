"""Hashes are right, and remembered only as long as the file is the same."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from excam.models.digest import combined_sha256, file_sha256, remembered_sha256


def _hashed(path: Path, memory: Path) -> tuple[str, bool]:
    """The hash, and whether the file was read for it."""
    steps: list[int] = []
    sha = remembered_sha256(path, memory, lambda step, done, total: steps.append(done))
    return sha, bool(steps)


def test_a_second_look_does_not_read_the_file(tmp_path: Path) -> None:
    file, memory = tmp_path / "f", tmp_path / "memory"
    file.write_bytes(b"weights")
    expected = hashlib.sha256(b"weights").hexdigest()
    assert [_hashed(file, memory), _hashed(file, memory)] == [(expected, True), (expected, False)]


def test_a_changed_file_of_the_same_size_and_date_is_read_again(tmp_path: Path) -> None:
    file, memory = tmp_path / "f", tmp_path / "memory"
    file.write_bytes(b"weights")
    before = file.stat()
    _hashed(file, memory)
    file.write_bytes(b"Weights")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert _hashed(file, memory) == (hashlib.sha256(b"Weights").hexdigest(), True)


def test_a_file_that_changes_while_it_is_read_is_read_again(tmp_path: Path) -> None:
    file, memory = tmp_path / "f", tmp_path / "memory"
    file.write_bytes(b"weights")

    def replace(step: str, done: int, total: int) -> None:
        file.write_bytes(b"others")

    remembered_sha256(file, memory, replace)
    assert _hashed(file, memory) == (hashlib.sha256(b"others").hexdigest(), True)


def test_a_note_cut_short_is_ignored(tmp_path: Path) -> None:
    file, memory = tmp_path / "f", tmp_path / "memory"
    file.write_bytes(b"weights")
    _hashed(file, memory)
    for note in memory.iterdir():
        note.write_bytes(note.read_bytes()[:20])
    assert _hashed(file, memory) == (file_sha256(file), True)


def test_a_memory_that_cannot_be_written_only_costs_time(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_bytes(b"weights")
    assert _hashed(file, file / "memory") == (file_sha256(file), True)


def test_the_combined_hash_is_that_of_the_sorted_list_sha256sum_prints() -> None:
    a, b = hashlib.sha256(b"a").hexdigest(), hashlib.sha256(b"b").hexdigest()
    listed = f"{a}  a.json\n{b}  b.safetensors\n".encode()
    assert combined_sha256([("b.safetensors", b), ("a.json", a)]) == hashlib.sha256(listed).hexdigest()
