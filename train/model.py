"""The network that trains: a base with packed attention and an adapter on it, its layers compiled where that pays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from train import attention, lora
from train.recipe import Recipe

H200_BF16_FLOPS = 989e12
"""Dense bf16 operations a second by the vendor's datasheet: what MFU is a share of."""


def load(path: Path, recipe: Recipe, device: torch.device) -> Any:
    """The base in bf16 on a GPU (float32 elsewhere) with a fresh adapter."""
    from transformers import AutoModelForCausalLM

    attention.register()
    dtype = torch.bfloat16 if device.type == "cuda" else torch.float32
    model = AutoModelForCausalLM.from_pretrained(
        path, dtype=dtype, attn_implementation=attention.NAME, local_files_only=True, use_safetensors=True
    )
    return prepare(model.to(device), recipe)


def prepare(model: Any, recipe: Recipe) -> Any:
    """Attach the adapter, and compile or checkpoint the decoder layers as the recipe asks."""
    lora.attach(
        model,
        layers=recipe.layers,
        rank=recipe.rank,
        alpha=recipe.alpha,
        dropout=recipe.dropout,
        seed=recipe.seed,
    )
    model.config.use_cache = False
    if recipe.checkpointing:
        how = {"use_reentrant": False, "context_fn": attention.again}
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs=how)
    if recipe.compile and next(model.parameters()).is_cuda:
        compile_layers(model)
    return model.train()


def compile_layers(model: Any, backend: str = "inductor") -> None:
    """Compile each decoder layer: all have the same code and shapes, so the work is done once.

    Every batch has the same number of tokens, so nothing is dynamic; attention, whose layout changes, stays out.
    A layer that cannot be compiled runs as it is.
    """
    torch._dynamo.config.suppress_errors = True
    for layer in model.get_decoder().layers:
        layer.compile(backend=backend, dynamic=False)


def flops_per_token(model: Any) -> float:
    """Operations a token must cost: the frozen layers forward and back, the adapter forward, back and its gradient."""
    adapted = lora.adapters(model).values()
    frozen = sum(module.base.weight.numel() for module in adapted)
    trained = sum(module.down.numel() + module.up.numel() for module in adapted)
    return 4.0 * frozen + 6.0 * trained
