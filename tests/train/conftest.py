"""A toy world: tiny random models and examples whose decision a tiny model can learn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from train import attention
from train.examples import Examples

OPENING, DECISIONS, END = (3, 4), (5, 6, 7), 2
VOCABULARY = 64

torch.set_num_threads(1)  # a tiny model's steps are shorter than the time threads wait for each other
PREAMBLE = (13, 14, 15)


def toy_examples(count: int = 48, seed: int = 0, longest: int = 24) -> Examples:
    """Twins whose wrong version holds token 10 where the right one holds token 11, and ordinary pairs that hold 12."""
    random = np.random.default_rng(seed)
    pieces: list[Any] = []
    prompt, label, twin, weight, source, group = [], [], [], [], [], []
    while len(pieces) < count:
        head = random.integers(20, VOCABULARY, random.integers(3, longest))
        ordinary = random.random() < 0.25
        question = 2 * (len(pieces) // 5) + ordinary
        for kind in [2] if ordinary else [0, 1]:
            text = [*PREAMBLE, *head, {0: 11, 1: 10, 2: 12}[kind], *head[:2]]
            report = [*OPENING, DECISIONS[kind], *([8, 9, *head[:3]] if kind == 1 else [8]), END]
            partner = -1 if ordinary else len(pieces) + (1 if kind == 0 else -1)
            pieces.append(np.array([*text, *report], np.int32))
            prompt.append(len(text))
            label.append(kind)
            twin.append(partner)
            weight.append(0.5 if ordinary else 1.5)
            source.append(int(ordinary))
            group.append(question)
    return Examples(
        ids=np.concatenate(pieces),
        starts=np.cumsum([0, *map(len, pieces)], dtype=np.int64),
        prompt=np.array(prompt, np.int32),
        label=np.array(label, np.int8),
        twin=np.array(twin, np.int32),
        weight=np.array(weight, np.float32),
        source=np.array(source, np.int16),
        hard=np.array(label) != 2,
        group=np.array(group, np.int32),
        sources=("cultural", "ordinary"),
        opening=OPENING,
        decisions=DECISIONS,
        end=END,
        dataset="toy",
    )


def tiny_model(family: str = "qwen2", seed: int = 0, layers: int = 2, hidden: int = 32) -> Any:
    """A random model of few layers with packed attention and grouped heads."""
    from transformers import AutoConfig, AutoModelForCausalLM

    attention.register()
    torch.manual_seed(seed)
    config = AutoConfig.for_model(
        family,
        vocab_size=VOCABULARY,
        hidden_size=hidden,
        intermediate_size=48,
        num_hidden_layers=layers,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=256,
        tie_word_embeddings=True,
        bos_token_id=None,
        eos_token_id=END,
        pad_token_id=END,
    )
    return AutoModelForCausalLM.from_config(config, attn_implementation=attention.NAME)


@pytest.fixture
def examples() -> Examples:
    return toy_examples()
