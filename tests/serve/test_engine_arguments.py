"""What a GPU's engine is started with; that there is one is all that is pretended here."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from serve import engine_arguments as started
from serve.identity import Judge
from serve.settings import JudgeSettings


@pytest.fixture
def on_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(started, "has_gpu", lambda: True)


def judge_with_lora(rank: int) -> Judge:
    from excam.judge_card import JudgeCard

    settings = JudgeSettings.load()
    card = JudgeCard(
        base="b", base_sha256="0", adapter="a@1", adapter_sha256="1", prompt_sha256="2", decoding={"temperature": 0.0}
    )
    return Judge(card, settings, 0.5, None, Path("base"), Path("adapter"), rank)


def test_an_engine_on_a_gpu_is_spawned_since_asking_for_the_gpu_makes_forking_impossible(on_gpu: None) -> None:
    assert started.engine_environment(JudgeSettings.load())["VLLM_WORKER_MULTIPROC_METHOD"] == "spawn"


def test_what_an_engine_logs_stays_out_of_a_commands_output() -> None:
    assert started.engine_environment(JudgeSettings.load())["VLLM_LOGGING_STREAM"] == "ext://sys.stderr"


def test_an_engine_on_a_cpu_may_fork() -> None:
    assert "VLLM_WORKER_MULTIPROC_METHOD" not in started.engine_environment(JudgeSettings.load())


def test_nothing_at_all_is_compiled_on_a_cpu_unless_it_was_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    assert started.eager_environment(JudgeSettings.load()) == {"TORCHDYNAMO_DISABLE": "1"}
    assert not started.eager_environment(JudgeSettings.load(engine={"compile": True}))
    monkeypatch.setattr(started, "has_gpu", lambda: True)
    assert not started.eager_environment(JudgeSettings.load())


def test_a_step_on_a_gpu_takes_many_pairs_together(on_gpu: None) -> None:
    assert started.engine_arguments(judge_with_lora(16))["max_num_batched_tokens"] == 16_384


def test_a_step_on_a_cpu_takes_as_many_tokens_as_vllm_takes_offline() -> None:
    assert started.engine_arguments(judge_with_lora(16))["max_num_batched_tokens"] == 4_096


def test_several_engines_on_a_cpu_are_data_parallel_with_their_model_inside(monkeypatch: pytest.MonkeyPatch) -> None:
    several = started.engine_arguments(judge_with_lora(16), 2)
    assert (several["data_parallel_size"], several["distributed_executor_backend"]) == (2, "uni")
    assert "data_parallel_size" not in started.engine_arguments(judge_with_lora(16))
    monkeypatch.setattr(started, "has_gpu", lambda: True)
    assert "data_parallel_size" not in started.engine_arguments(judge_with_lora(16), 2)


def test_a_gpu_works_on_more_pairs_at_once_unless_told_how_many(on_gpu: None) -> None:
    judge = judge_with_lora(16)
    few = replace(judge, settings=JudgeSettings.load(engine={"max_num_seqs": 8}))
    assert [started.engine_arguments(one)["max_num_seqs"] for one in (judge, few)] == [256, 8]


def test_the_largest_rank_is_the_next_one_vllm_knows(on_gpu: None) -> None:
    arguments = started.engine_arguments(judge_with_lora(20))
    assert (arguments["enable_lora"], arguments["max_lora_rank"]) == (True, 32)
