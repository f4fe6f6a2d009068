"""A base model in a folder of the user's own, used where it lies."""

from __future__ import annotations

import json
from pathlib import Path

from excam.fault import UserError
from excam.models.digest import combined_sha256, remembered_sha256
from excam.models.sources import Progress

# Weights as safetensors only: a pickle runs code when it is loaded.
MODEL_FILES = ("*.safetensors", "*.json", "*.jinja", "*.txt", "tokenizer.model")
_TOKENIZERS = ("tokenizer.json", "tokenizer.model")
_PICKLES = ("*.bin", "*.pt", "*.pth", "*.ckpt")


def folder_sha256(folder: Path, memory: Path, progress: Progress) -> str:
    """Check that the folder holds a whole model as safetensors and hash every file that can change what it says."""
    _require_model(folder)
    files = model_files(folder)
    return combined_sha256((file.name, remembered_sha256(file, memory, progress)) for file in files)


def model_files(folder: Path) -> list[Path]:
    """The files a model is loaded from; whatever else lies there is no part of it."""
    return sorted({path for pattern in MODEL_FILES for path in folder.glob(pattern)})


def _require_model(folder: Path) -> None:
    shards = {path.name for path in folder.glob("*.safetensors")}
    if not shards:
        pickles = sorted(path.name for pattern in _PICKLES for path in folder.glob(pattern))
        found = f", only {', '.join(pickles)}" if pickles else ""
        raise UserError(
            f"base model folder {folder} has no *.safetensors{found}",
            "save the weights as safetensors; pickled weights are refused because loading them runs code",
        )
    if not (folder / "config.json").is_file():
        raise UserError(f"base model folder {folder} has no config.json", "copy the model's config.json into it")
    if not any((folder / name).is_file() for name in _TOKENIZERS):
        raise UserError(f"base model folder {folder} has no tokenizer.json", "copy the model's tokenizer files into it")
    index = folder / "model.safetensors.index.json"
    if index.is_file() and (missing := sorted(set(_shards_of(index)) - shards)):
        raise UserError(
            f"base model folder {folder} lacks {len(missing)} files that its index names: {', '.join(missing)}",
            "finish the download or copy",
        )


def _shards_of(index: Path) -> list[str]:
    try:
        return [str(name) for name in json.loads(index.read_text("utf-8"))["weight_map"].values()]
    except (ValueError, KeyError, AttributeError, TypeError, RecursionError) as problem:
        raise UserError(f"{index} is not an index of safetensors files: {problem!r}", "copy it again") from problem
