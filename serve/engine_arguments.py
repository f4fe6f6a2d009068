"""How vLLM is started: the one place where a CPU and a GPU differ."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypeVar

from excam.memory import nothing_collected
from serve.cores import dtype_of, threads_of
from serve.identity import Judge, has_gpu
from serve.settings import JudgeSettings

if TYPE_CHECKING:
    from vllm.v1.engine.async_llm import AsyncLLM

Found = TypeVar("Found")

# Of one step, as vLLM's offline class has them. It gives an engine inside a program 2,048, and every step has its cost.
GPU_STEP_TOKENS, CPU_STEP_TOKENS = 16_384, 4_096
LORA_RANKS = (8, 16, 32, 64, 128, 256, 320, 512)  # the values vLLM takes


def engine_environment(settings: JudgeSettings, engines: int = 1) -> dict[str, str]:
    """Variables the process must be born with that starts so many engines; Ray would give each a single thread."""
    quiet = {
        "VLLM_LOGGING_LEVEL": os.environ.get("VLLM_LOGGING_LEVEL", "WARNING"),
        "VLLM_LOGGING_STREAM": "ext://sys.stderr",  # stdout is for what a command was asked, which may be JSON
        "VLLM_NO_USAGE_STATS": "1",
    }
    local = {"VLLM_HOST_IP": "127.0.0.1", "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
    cpu = {
        "VLLM_ENABLE_V1_MULTIPROCESSING": "0",  # the model then runs in the engine's own process, not in one more
        "OMP_NUM_THREADS": str(max(1, threads_of(settings) // engines)),
        "VLLM_CPU_OMP_THREADS_BIND": "nobind",
        "VLLM_CPU_KVCACHE_SPACE": str(settings.engine.cpu_kv_cache_gib),
    }
    # Asking whether there is a GPU touches CUDA, and a process that has touched it can no longer fork an engine.
    gpu = {"VLLM_WORKER_MULTIPROC_METHOD": "spawn"} if has_gpu() else {}
    return quiet | local | cpu | gpu


def engine_arguments(judge: Judge, engines: int = 1) -> dict[str, Any]:
    """Arguments for vLLM; ``max_lora_rank`` follows the adapter, since vLLM refuses what is above it.

    Several engines on a CPU are what vLLM calls data parallel: it hands every request to the one with least to do.
    """
    settings = judge.settings
    on_gpu = has_gpu()
    asked = settings.engine.max_num_seqs
    compiled = on_gpu if settings.engine.compile == "auto" else bool(settings.engine.compile)
    arguments: dict[str, Any] = {
        "model": str(judge.model_path),
        "load_format": "safetensors",  # never a pickle that lies beside them: loading one runs code
        "dtype": "bfloat16" if on_gpu else dtype_of(settings),
        "max_model_len": settings.max_prompt_tokens + settings.max_report_tokens + 16,
        "max_num_seqs": (256 if on_gpu else 64) if asked == "auto" else asked,
        "enable_prefix_caching": True,
        "enforce_eager": not compiled,
        "seed": 0,
        "disable_log_stats": True,
    }
    if on_gpu:
        arguments["gpu_memory_utilization"] = settings.engine.gpu_memory_utilization
        arguments["max_num_batched_tokens"] = GPU_STEP_TOKENS
    else:
        arguments["max_num_batched_tokens"] = CPU_STEP_TOKENS
        arguments["block_size"] = 32  # the CPU default of 128 spoils prefix caching
        if engines > 1:  # each with its model in its own process, not in one more
            arguments |= {"data_parallel_size": engines, "distributed_executor_backend": "uni"}
    if judge.lora_path and judge.lora_rank:
        rank = next((size for size in LORA_RANKS if size >= judge.lora_rank), judge.lora_rank)
        arguments |= {"enable_lora": True, "max_loras": 1, "max_lora_rank": rank}
    return arguments


def start_engine(judge: Judge, engines: int = 1) -> AsyncLLM:
    """vLLM at work on the judge's weights, in a process of its own; to be called inside the loop that will ask it."""
    with nothing_collected():
        from vllm.engine.arg_utils import AsyncEngineArgs
        from vllm.v1.engine.async_llm import AsyncLLM

    with _bequeathed(eager_environment(judge.settings)):
        return AsyncLLM.from_engine_args(AsyncEngineArgs(**engine_arguments(judge, engines)))


def run_with_engine(settings: JudgeSettings, work: Callable[[], Coroutine[Any, Any, Found]]) -> Found:
    """Run what starts an engine from this process and shuts it down, so that nothing of the engine is left over.

    vLLM is loaded before: one of its imports keeps the frames it was called from, and an engine in one of them would
    be ended anew when half the interpreter is gone. It leaves its sockets where they were, so their folder goes.
    """
    os.environ.update(engine_environment(settings))
    with nothing_collected():
        from vllm import SamplingParams  # noqa: F401
        from vllm.v1.engine import async_llm  # noqa: F401
    with TemporaryDirectory(prefix="excam-") as sockets, _bequeathed({"VLLM_RPC_BASE_PATH": sockets}):
        return asyncio.run(work())


def eager_environment(settings: JudgeSettings) -> dict[str, str]:
    """What keeps an engine on a CPU from compiling a helper of its sampler, seconds before its first answer.

    vLLM does so though told to compile nothing. Training compiles too, so this is for the engine's process alone.
    """
    return {} if has_gpu() or settings.engine.compile is True else {"TORCHDYNAMO_DISABLE": "1"}


@contextmanager
def _bequeathed(variables: Mapping[str, str]) -> Iterator[None]:
    """Processes started meanwhile are born with these variables; this one has its own again afterwards."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
