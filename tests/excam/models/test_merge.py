"""A merged model says what base and adapter say together."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from excam.fault import UserError
from excam.models.adapters import Adapter, write_card
from excam.models.base import BaseModel, resolve
from excam.models.merge import lora_updates, merge

pytestmark = pytest.mark.engine

LINEAR = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
Train = Callable[..., tuple[BaseModel, Adapter, Any]]


@pytest.fixture
def trained(tmp_path: Path, cache: Path) -> Train:
    """A random base in a folder, a random adapter for it with its card, and both as peft runs them."""

    def make(dtype: str = "float32", shard: str = "1GB", **lora: Any) -> tuple[BaseModel, Adapter, Any]:
        import torch
        from peft import LoraConfig, get_peft_model
        from transformers import LlamaConfig, LlamaForCausalLM

        torch.manual_seed(1)
        shape = {"hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2, "vocab_size": 64}
        heads = {"num_attention_heads": 4, "num_key_value_heads": 2, "tie_word_embeddings": True}
        network = LlamaForCausalLM(LlamaConfig(**shape, **heads)).to(getattr(torch, dtype))
        network.save_pretrained(tmp_path / "base", max_shard_size=shard)
        (tmp_path / "base" / "tokenizer.json").write_text("{}")
        (tmp_path / "base" / "notes.bin").write_text("no part of the model")
        base = resolve(tmp_path / "base", cache)
        settings = {"r": 4, "lora_alpha": 12, "target_modules": LINEAR, **lora}
        tuned = get_peft_model(network, LoraConfig(task_type="CAUSAL_LM", **settings))
        for name, parameter in tuned.named_parameters():
            if "lora_B" in name:
                torch.nn.init.normal_(parameter)
        tuned.save_pretrained(tmp_path / "adapter")
        adapter = write_card(tmp_path / "adapter", name="judge", version="1", base=base, dataset="none")
        return base, adapter, tuned

    return make


def _load(folder: Path) -> dict[str, Any]:
    from safetensors.torch import load_file

    return {name: value for file in folder.glob("*.safetensors") for name, value in load_file(file).items()}


@pytest.mark.parametrize(
    "options", [{}, {"use_rslora": True}, {"shard": "10KB"}, {"target_modules": ["q_proj", "down_proj"]}]
)
def test_the_weights_are_those_of_peft(trained: Train, cache: Path, options: dict[str, Any]) -> None:
    import torch

    base, adapter, tuned = trained(**options)
    merged, before = _load(merge(base, adapter, cache)), _load(base.path)
    expected = tuned.merge_and_unload().state_dict()
    assert merged.keys() == before.keys()
    for name, weight in merged.items():
        torch.testing.assert_close(weight, expected[name], rtol=1e-5, atol=1e-6)
    changed = {name for name in merged if not torch.equal(merged[name], before[name])}
    assert len(changed) == 2 * len(options.get("target_modules", LINEAR))


def test_bf16_is_rounded_once(trained: Train, cache: Path) -> None:
    import torch

    base, adapter, _ = trained("bfloat16")
    name = "model.layers.1.mlp.up_proj"
    factors = _load(adapter.path)
    down, up = (factors[f"base_model.model.{name}.lora_{side}.weight"].double() for side in "AB")
    exact = _load(base.path)[f"{name}.weight"].double() + 3.0 * up @ down
    merged = _load(merge(base, adapter, cache))[f"{name}.weight"]
    assert merged.dtype == torch.bfloat16
    spacing = exact.abs().clamp(min=1e-6) * 2**-8  # half the distance between neighbours in bf16
    assert bool(((merged.double() - exact).abs() <= spacing * 1.01).all())


def test_the_merged_folder_loads_and_answers_like_base_with_adapter(trained: Train, cache: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM

    base, adapter, tuned = trained()
    folder = merge(base, adapter, cache)
    ids = torch.arange(20).reshape(1, 20)
    with torch.no_grad():
        mine = AutoModelForCausalLM.from_pretrained(folder)(ids).logits
        torch.testing.assert_close(mine, tuned(ids).logits, rtol=1e-4, atol=1e-5)
    assert not (folder / "notes.bin").exists()


def test_it_is_made_once_and_again_when_damaged(trained: Train, cache: Path) -> None:
    base, adapter, _ = trained()
    steps: list[str] = []
    folder = merge(base, adapter, cache, lambda step, *_: steps.append(step))
    assert merge(base, adapter, cache, lambda step, *_: steps.append(step)) == folder
    assert steps.count("merging judge into base") == 1
    weights = folder / "model.safetensors"
    whole = weights.read_bytes()
    weights.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    merge(base, adapter, cache, lambda step, *_: steps.append(step))
    assert steps.count("merging judge into base") == 2
    assert weights.read_bytes() == whole


def test_another_base_is_refused(trained: Train, cache: Path) -> None:
    base, adapter, _ = trained()
    with pytest.raises(UserError, match="belongs to another base model"):
        merge(replace(base, sha256="0" * 64), adapter, cache)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"use_dora": True}, "use_dora"),
        ({"rank_pattern": {"q_proj": 2}}, "rank_pattern"),
        ({"modules_to_save": ["embed_tokens"]}, "modules_to_save"),
        ({"bias": "all"}, "bias all"),
        ({"target_modules": ["q_proj", "lm_head"]}, "lm_head"),
    ],
)
def test_what_is_more_than_a_plain_lora_is_refused(
    trained: Train, cache: Path, options: dict[str, Any], named: str
) -> None:
    base, adapter, _ = trained(**options)
    with pytest.raises(UserError) as fault:
        merge(base, adapter, cache)
    assert named in fault.value.message
    assert not list(cache.glob("merged/*"))


def test_a_base_of_another_shape_is_refused(trained: Train, cache: Path) -> None:
    from safetensors.torch import save_file

    base, adapter, _ = trained()
    weights = _load(base.path)
    weights["model.layers.0.mlp.up_proj.weight"] = weights["model.layers.0.mlp.up_proj.weight"][:-1].clone()
    save_file(weights, base.path / "model.safetensors")
    with pytest.raises(UserError, match=r"up_proj.weight has another shape"):
        merge(base, adapter, cache)


@pytest.mark.parametrize("dtype", ["float8_e4m3fn", "int8"])
def test_a_quantised_base_is_refused_since_its_weights_are_nothing_without_their_scales(
    trained: Train, cache: Path, dtype: str
) -> None:
    import torch
    from safetensors.torch import save_file

    base, adapter, _ = trained()
    weights = {name: value.to(getattr(torch, dtype)) for name, value in _load(base.path).items()}
    save_file(weights, base.path / "model.safetensors")
    with pytest.raises(UserError, match=f"is quantised.*{dtype}") as fault:
        merge(base, adapter, cache)
    assert "engine.merge: false" in fault.value.fix
    assert not list(cache.glob("merged/*"))


def _matrices(**shapes: tuple[int, ...]) -> bytes:
    from safetensors.torch import save
    from torch import ones

    return bytes(save({f"base_model.model.x.{name}.weight": ones(shape) for name, shape in shapes.items()}))


@pytest.mark.parametrize(
    ("weights", "config", "named"),
    [
        (lambda: b"cut short", {}, "adapter_model.safetensors is no whole safetensors file"),
        (lambda: (1 << 62).to_bytes(8, "little") + b"{}", {}, "adapter_model.safetensors is no whole safetensors file"),
        (lambda: _matrices(), {}, "holds no pairs of matrices"),
        (lambda: _matrices(lora_A=(4, 2, 1), lora_B=(2, 4, 1)), {}, "holds no pairs of matrices"),
        (lambda: _matrices(lora_A=(), lora_B=()), {}, "holds no pairs of matrices"),
        (lambda: _matrices(lora_A=(4, 2), lora_B=(2, 4)), {"lora_alpha": None}, "is not a LoRA's configuration"),
    ],
)
def test_what_calls_itself_an_adapter_and_is_none_is_named(
    tmp_path: Path, weights: Callable[[], bytes], config: dict[str, Any], named: str
) -> None:
    (tmp_path / "adapter_model.safetensors").write_bytes(weights())
    (tmp_path / "adapter_config.json").write_text(json.dumps({"peft_type": "LORA", "r": 4, "lora_alpha": 8} | config))
    with pytest.raises(UserError, match=named):
        lora_updates(tmp_path)


def test_the_configuration_counts_as_part_of_the_adapter(trained: Train, cache: Path) -> None:
    base, adapter, _ = trained()
    first = merge(base, adapter, cache)
    config = json.loads((adapter.path / "adapter_config.json").read_text())
    (adapter.path / "adapter_config.json").write_text(json.dumps(config | {"lora_alpha": 1}))
    (adapter.path / "adapter.yaml").unlink()
    weaker = write_card(adapter.path, name="judge", version="2", base=base, dataset="none")
    assert weaker.sha256 == adapter.sha256
    assert merge(base, weaker, cache) != first
