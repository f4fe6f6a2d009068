"""A converted model is the GGUF's weights in bf16, with one matrix for embedding and head."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from excam.models.base import BaseModel, converted_folder, resolve, resolve_pinned
from excam.models.cache import MANIFEST, cache_root
from excam.models.convert import CONVERTER
from excam.models.registry import Pinned, pinned
from excam.models.tokens import load_tokenizer

pytestmark = pytest.mark.engine


@pytest.fixture
def model(tiny_gguf: Path, pin: Callable[..., Pinned]) -> Pinned:
    made = pin(tiny_gguf.read_bytes())
    assert made.file == tiny_gguf.name
    return made


def _weights(folder: Path) -> dict[str, Any]:
    from safetensors.torch import load_file

    return dict(load_file(folder / "model.safetensors"))


def _original(gguf: Path, *names: str) -> list[Any]:
    """Tensors of the file, unpacked by the format's own library and rounded to bf16."""
    import torch
    from gguf import GGUFReader, dequantize

    tensors = {tensor.name: tensor for tensor in GGUFReader(gguf).tensors}
    unpacked = (dequantize(tensors[name].data, tensors[name].tensor_type) for name in names)
    return [torch.tensor(array).to(torch.bfloat16) for array in unpacked]


@pytest.fixture
def mixed(tiny_gguf: Path, tmp_path: Path) -> Path:
    """A user's folder of model files in which somebody's adapter lies beside the GGUF."""
    folder = tmp_path / "mixed"
    folder.mkdir()
    shutil.copy(tiny_gguf, folder)
    adapter = {"peft_type": "LORA", "r": 1, "base_model_name_or_path": "someone/else"}
    (folder / "adapter_config.json").write_text(json.dumps(adapter))
    return folder


def test_embedding_and_head_become_one_matrix_taken_from_the_head(
    model: Pinned, tiny_gguf: Path, mixed: Path, cache: Path
) -> None:
    import torch

    base = resolve_pinned(model, cache, "auto", mixed, lambda *_: None)
    weights = _weights(base.path)
    head, down = _original(tiny_gguf, "output.weight", "blk.0.ffn_down.weight")
    assert "lm_head.weight" not in weights
    assert torch.equal(weights["model.embed_tokens.weight"], head)
    assert torch.equal(weights["model.layers.0.mlp.down_proj.weight"], down)
    config = json.loads((base.path / "config.json").read_text())
    assert config["tie_word_embeddings"] is True
    assert (config["eos_token_id"], config["pad_token_id"]) == (2, 2)
    assert "_model_name_or_path" not in config
    assert load_tokenizer(base.path)("the 12")["input_ids"] != load_tokenizer(base.path)("the12")["input_ids"]


def test_two_at_once_convert_once_and_damage_is_repaired(model: Pinned, tiny_gguf: Path, cache: Path) -> None:
    steps: list[str] = []

    def go() -> BaseModel:
        return resolve_pinned(model, cache, "auto", tiny_gguf.parent, lambda step, *_: steps.append(step))

    with ThreadPoolExecutor(2) as pool:
        first, second = (pool.submit(go) for _ in range(2))
    base = first.result()
    assert base == second.result() == BaseModel("tiny", base.path, model.sha256, "CC0-1.0")
    assert base.path == converted_folder(model, cache)
    assert steps.count("converting tiny") == 1
    manifest = json.loads((base.path / MANIFEST).read_text())
    assert (manifest["origin_sha256"], manifest["converter"]) == (model.sha256, CONVERTER)

    weights = base.path / "model.safetensors"
    whole = weights.read_bytes()
    weights.write_bytes(whole[: len(whole) // 2])
    go()
    assert steps.count("converting tiny") == 2
    assert weights.read_bytes() == whole


def test_the_small_model_is_its_gguf_and_speaks() -> None:
    import torch
    from transformers import AutoModelForCausalLM

    base = resolve("smollm2-135m")
    weights = _weights(base.path)
    gguf = cache_root() / "gguf" / pinned("smollm2-135m").file
    if gguf.exists():
        embedding, down = _original(gguf, "token_embd.weight", "blk.3.ffn_down.weight")
        assert torch.equal(weights["model.embed_tokens.weight"], embedding)
        assert torch.equal(weights["model.layers.3.mlp.down_proj.weight"], down)
    tokenizer = load_tokenizer(base.path)
    network = AutoModelForCausalLM.from_pretrained(base.path, dtype=torch.float32)
    ids = tokenizer("The capital of France is", return_tensors="pt")["input_ids"]
    with torch.no_grad():
        next_id = int(network(ids).logits[0, -1].argmax())
    assert tokenizer.decode([next_id]) == " Paris"


@pytest.mark.parametrize("name", ["qwen2.5-coder-0.5b", "qwen2.5-coder-1.5b"])
def test_qwen_takes_the_finer_of_its_two_copies(name: str) -> None:
    import torch
    from gguf import GGUFReader
    from safetensors import safe_open

    model = pinned(name)
    folder, gguf = converted_folder(model, cache_root()), cache_root() / "gguf" / model.file
    if not (folder / MANIFEST).is_file() or not gguf.is_file():
        pytest.skip(f"{name} was not fetched: excam models fetch {name}")
    sizes = {tensor.name: tensor.n_bytes for tensor in GGUFReader(gguf).tensors}
    assert sizes["output.weight"] > sizes["token_embd.weight"]
    [head] = _original(gguf, "output.weight")
    with safe_open(folder / "model.safetensors", "pt") as tensors:
        assert "lm_head.weight" not in tensors.keys()  # noqa: SIM118 - not a dict
        assert torch.equal(tensors.get_tensor("model.embed_tokens.weight"), head)


def test_a_folder_of_ones_own_is_the_same_model_wherever_it_lies(
    model: Pinned, tiny_gguf: Path, cache: Path, tmp_path: Path
) -> None:
    base = resolve_pinned(model, cache, "auto", tiny_gguf.parent, lambda *_: None)
    shutil.copytree(base.path, tmp_path / "one")
    shutil.copytree(base.path, tmp_path / "two")
    assert resolve(tmp_path / "one", cache).sha256 == resolve(tmp_path / "two", cache).sha256
