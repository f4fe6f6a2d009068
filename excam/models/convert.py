"""From a GGUF file to a folder that transformers and vLLM load: bf16 safetensors, config, published tokenizer."""

from __future__ import annotations

import io
import json
import tempfile
from contextlib import redirect_stderr
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from excam.fault import UserError
from excam.models.registry import Pinned
from excam.models.tokenizer_files import STOPS, write_tokenizer
from excam.models.vocabulary import read_vocabulary

CONVERTER = 1
"""Part of a converted folder's identity: raise it whenever the same GGUF would give other bytes."""


def require_converter() -> None:
    """Say what is missing before a gigabyte is downloaded, not after."""
    needed = ("torch", "transformers", "accelerate", "gguf", "safetensors", "huggingface_hub", "filelock")
    if missing := [package for package in needed if find_spec(package) is None]:
        raise UserError(
            f"base models cannot be prepared without {', '.join(missing)}",
            "install ExCAM with its extra cpu or gpu: excam[cpu]",
        )


def convert(gguf: Path, model: Pinned, folder: Path) -> None:
    """Write the converted model into an empty folder."""
    write_tokenizer(read_vocabulary(gguf), model.tokenizer, folder)
    _write_weights(gguf, folder)
    _mend_settings(model, folder)


def _write_weights(gguf: Path, folder: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM, GgufConfig

    # Progress bars of the library would break ours, and what lies beside the file would be taken for a part of it.
    with redirect_stderr(io.StringIO()), tempfile.TemporaryDirectory(prefix="excam-") as alone:
        (Path(alone) / gguf.name).symlink_to(gguf.resolve())
        # Without dequantize the weights would stay packed, and packed weights cannot be saved.
        network = AutoModelForCausalLM.from_pretrained(
            alone,
            gguf_file=gguf.name,
            dtype=torch.bfloat16,
            quantization_config=GgufConfig(dequantize=True),
            local_files_only=True,
        )
        _tie(network)
        network.save_pretrained(folder)
    _require_one_embedding(folder)


def _tie(network: Any) -> None:
    """All pinned models share one matrix between embedding and head; quantised Qwen files hold it twice.

    The head's copy is the finer one (6 or 8 bits against 4 or 5), so both take it.
    """
    network.get_input_embeddings().weight = network.get_output_embeddings().weight
    network.config.tie_word_embeddings = True
    network.tie_weights()


def _require_one_embedding(folder: Path) -> None:
    from safetensors import safe_open

    names: set[str] = set()
    for shard in folder.glob("*.safetensors"):
        with safe_open(shard, "pt") as tensors:
            names.update(tensors.keys())
    if "lm_head.weight" in names or "model.embed_tokens.weight" not in names:
        raise RuntimeError(f"{folder}: embedding and head were not stored as one tensor")


def _mend_settings(model: Pinned, folder: Path) -> None:
    """What ends an answer comes from the family's published settings; the GGUF's own title is no path to load from."""
    tokenizer = json.loads((folder / "tokenizer.json").read_text("utf-8"))
    ids = {token["content"]: token["id"] for token in tokenizer["added_tokens"]}
    names = json.loads((folder / "tokenizer_config.json").read_text("utf-8"))
    ends = [ids[names["eos_token"]], *(ids[token] for token in STOPS[model.tokenizer.family])]
    for file, eos in (("config.json", ends[0]), ("generation_config.json", ends if len(ends) > 1 else ends[0])):
        settings = json.loads((folder / file).read_text("utf-8"))
        settings.pop("_model_name_or_path", None)
        settings |= {"eos_token_id": eos, "pad_token_id": ids[names["pad_token"]]}
        (folder / file).write_text(json.dumps(settings, indent=2), "utf-8")
