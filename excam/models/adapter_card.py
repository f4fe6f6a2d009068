"""An adapter's card, ``adapter.yaml``: what it is, what it belongs to, and the hashes of its files."""

from __future__ import annotations

import json
import math
import re
from datetime import datetime
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel as Model
from pydantic import ConfigDict, Field, FiniteFloat, ValidationError

from excam.calibration import Calibration
from excam.fault import UserError

CARD, CONFIG, WEIGHTS = "adapter.yaml", "adapter_config.json", "adapter_model.safetensors"
_SHA256 = r"^[0-9a-f]{64}$"
_NAME, _VERSION = r"^[a-z0-9][a-z0-9.-]*$", r"^[0-9]+(\.[0-9]+)*$"
_PICKLES = (".bin", ".pt", ".pth", ".ckpt", ".pkl")


class BaseReference(Model):
    """The base model an adapter was trained on."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    sha256: str = Field(pattern=_SHA256)


class Card(Model):
    """What ``adapter.yaml`` says."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(pattern=_NAME)
    version: str = Field(pattern=_VERSION, description="numbers with dots; the highest is the newest")
    base: BaseReference
    rank: int = Field(ge=1)
    created: datetime
    dataset: str = Field(description="identity of the training data")
    metrics: dict[str, FiniteFloat] = Field(default_factory=dict, description="figures on the dev split")
    calibration: Calibration | None = Field(default=None, description="how P(error) is calibrated, and the threshold")
    note: str | None = Field(default=None, description="what a user must know before relying on it")
    sha256: str = Field(pattern=_SHA256, description="of adapter_model.safetensors")
    config_sha256: str = Field(pattern=_SHA256, description="of adapter_config.json, which scales the weights")


def check_name(name: str, version: str) -> None:
    """Refuse what could not stand on a card, before any work is done."""
    for what, text, form in (("name", name, _NAME), ("version", version, _VERSION)):
        if not re.fullmatch(form, text):
            raise UserError(
                f"{text!r} is no {what} for an adapter", "use a name like excam-qwen-0.5b and a version like 1.0.0"
            )


def require_files(folder: Path) -> None:
    """Refuse a folder that is no adapter, and one with pickled weights, whichever file would be loaded."""
    pickles = sorted(path.name for path in folder.iterdir() if path.suffix in _PICKLES)
    if pickles:
        raise UserError(
            f"adapter {folder} holds {', '.join(pickles)}",
            "save the adapter as safetensors; pickled weights are refused because loading them runs code",
        )
    missing = [file for file in (CONFIG, WEIGHTS) if not (folder / file).is_file()]
    if missing:
        raise UserError(f"adapter {folder} has no {' and no '.join(missing)}", "give the folder that peft saved")


def read_card(folder: Path) -> Card:
    """The card in the folder, or a fault that names each wrong field."""
    try:
        return Card.model_validate(yaml.safe_load((folder / CARD).read_text("utf-8")))
    except FileNotFoundError:
        raise UserError(f"adapter {folder} has no {CARD}", "publish it first, which writes its card") from None
    except ValidationError as problem:
        wrong = "; ".join(f"{'.'.join(map(str, error['loc']))}: {error['msg']}" for error in problem.errors())
        raise UserError(f"{folder / CARD}: {wrong}", "restore the adapter's folder") from problem
    except (yaml.YAMLError, ValueError, RecursionError) as problem:  # no date, no number and nests also end so
        raise UserError(f"{folder / CARD} is not YAML: {problem}", "restore the adapter's folder") from problem


def read_config(folder: Path) -> dict[str, Any]:
    """The LoRA configuration as peft wrote it, its rank and alpha as numbers above 0."""
    try:
        config = json.loads((folder / CONFIG).read_text("utf-8"))
        rank, alpha = int(config["r"]), float(config["lora_alpha"])
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as problem:
        raise UserError(f"{folder / CONFIG} is not a LoRA's configuration: {problem!r}", "restore it") from problem
    if rank < 1 or not 0 < alpha < math.inf:
        raise UserError(f"{folder / CONFIG} has rank {rank} and alpha {alpha:g}", "restore it")
    return {**config, "r": rank, "lora_alpha": alpha}
