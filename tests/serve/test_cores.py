"""How many engines share a CPU: one a core while memory lasts, never more than asked for, never less than one."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from serve import cores, engine_arguments
from serve.cores import MOST, dtype_of, engines_of, threads_of
from serve.settings import JudgeSettings

GIB = 2**30


def settings(base: str = "smollm2-135m", **engine: Any) -> JudgeSettings:
    return JudgeSettings.load(base=base, engine=engine)


@pytest.fixture
def memory(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setattr(cores, "_memory", lambda: 64 * GIB)
    return monkeypatch


def test_there_is_an_engine_a_core_up_to_a_bound(memory: pytest.MonkeyPatch) -> None:
    assert [engines_of(settings(cpu_threads=threads)) for threads in (1, 2, 3, 16)] == [1, 2, 3, MOST]


def test_a_small_machine_has_one_engine_with_all_threads(memory: pytest.MonkeyPatch) -> None:
    memory.setattr(cores, "_memory", lambda: 4 * GIB)
    assert engines_of(settings(cpu_threads=8)) == 1
    assert engine_arguments.engine_environment(settings(cpu_threads=8), 1)["OMP_NUM_THREADS"] == "8"


def test_larger_weights_leave_room_for_fewer_engines(memory: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with (tmp_path / "model.safetensors").open("wb") as file:
        file.truncate(11 * GIB)
    memory.setattr(cores, "_cpu_flags", lambda: {"amx_bf16"})
    assert engines_of(settings(str(tmp_path), cpu_threads=4)) == 2
    assert engines_of(settings("qwen2.5-coder-0.5b", cpu_threads=4)) == 4


def test_weights_that_only_the_hub_knows_get_one_engine(memory: pytest.MonkeyPatch) -> None:
    assert engines_of(settings("some/model@0123456789abcdef0123456789abcdef01234567", cpu_threads=4)) == 1


def test_what_is_asked_for_is_given(memory: pytest.MonkeyPatch) -> None:
    assert engines_of(settings(cpu_engines=7, cpu_threads=2)) == 7


@pytest.mark.parametrize("flag", ["amx_bf16", "avx512_bf16", "bf16"])
def test_a_cpu_with_instructions_for_bf16_holds_weights_in_it(memory: pytest.MonkeyPatch, flag: str) -> None:
    memory.setattr(cores, "_cpu_flags", lambda: {"avx512f", flag})
    assert dtype_of(settings()) == "bfloat16"


def test_any_other_cpu_holds_weights_in_float32_which_leaves_room_for_fewer_engines(
    memory: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with (tmp_path / "model.safetensors").open("wb") as file:
        file.truncate(11 * GIB)
    memory.setattr(cores, "_cpu_flags", lambda: {"avx512f"})
    assert dtype_of(settings()) == "float32"
    assert engines_of(settings(str(tmp_path), cpu_threads=4)) == 1
    assert engines_of(settings(str(tmp_path), cpu_threads=4, cpu_dtype="bfloat16")) == 2


def test_the_flags_of_this_machine_are_read_where_linux_tells_them() -> None:
    assert bool(cores._cpu_flags()) is Path("/proc/cpuinfo").exists()


@given(threads=st.integers(1, 256), engines=st.integers(1, 64))
def test_engines_together_never_have_more_threads_than_allowed_unless_each_must_have_one(
    threads: int, engines: int
) -> None:
    each = int(engine_arguments.engine_environment(settings(cpu_threads=threads), engines)["OMP_NUM_THREADS"])
    assert each >= 1
    assert each * engines <= max(threads, engines)


def test_all_cores_are_used_unless_told_how_many() -> None:
    assert threads_of(settings()) == os.cpu_count()


def test_a_containers_limit_counts_where_it_is_lower() -> None:
    assert 0 < cores._memory() <= os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
