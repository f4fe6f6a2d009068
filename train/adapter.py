"""Save an adapter as peft does, cut to a rank by SVD, so that vLLM, peft and ``excam.models`` all load it.

Training may begin with what was saved: :func:`mean_update`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pydantic
import torch
from torch import Tensor, nn

from excam.calibration import Calibration
from excam.fault import UserError
from excam.models import BaseModel, resolve_adapter
from excam.models.adapter_card import CARD
from excam.models.merge import lora_updates
from train.lora import adapters, factors


def save(model: nn.Module, folder: Path, *, base: str, rank: int | None = None) -> int:
    """Write ``adapter_config.json`` and ``adapter_model.safetensors`` in bf16; returns the bytes of the weights.

    The scale is folded into the factors (alpha = rank), and the singular values are shared evenly between them: both
    then have entries of like size, which is what bf16 rounds best.
    """
    from safetensors.torch import save_file

    found = adapters(model)
    full = min(module.down.shape[0] for module in found.values())
    rank = min(rank or full, full)
    tensors = {}
    for name, module in found.items():
        down, up = factors(module, rank)
        tensors[f"base_model.model.{name}.lora_A.weight"] = down.to(torch.bfloat16).cpu().contiguous()
        tensors[f"base_model.model.{name}.lora_B.weight"] = up.to(torch.bfloat16).cpu().contiguous()
    folder.mkdir(parents=True, exist_ok=True)
    weights = folder / "adapter_model.safetensors"
    save_file(tensors, weights, metadata={"format": "pt"})
    config: dict[str, Any] = {
        "peft_type": "LORA",
        "task_type": "CAUSAL_LM",
        "base_model_name_or_path": base,
        "r": rank,
        "lora_alpha": rank,
        "lora_dropout": 0.0,
        "target_modules": sorted({name.rpartition(".")[2] for name in found}),
        "bias": "none",
        "fan_in_fan_out": False,
        "use_rslora": False,
        "use_dora": False,
        "modules_to_save": None,
        "inference_mode": True,
    }
    (folder / "adapter_config.json").write_text(json.dumps(config, indent=2) + "\n", "utf-8")
    return weights.stat().st_size


VERIFIED = "verified_"
"""How the names of figures begin that are not of the run but of its publishing."""


class RunResult(pydantic.BaseModel):
    """What a card tells of the run that made an adapter, and what only an earlier card of it can tell."""

    base_sha256: str | None = None
    dataset: str | None = None
    dev: dict[str, float] = {}
    calibration: Calibration | None = None
    note: str | None = None


def result_beside(folder: Path) -> RunResult:
    """What is known of the run that saved this adapter: by its card if it has one, else by what lies beside it.

    A file that cannot be read is a fault, and so is an adapter that is not what its card says.
    """
    if (folder / CARD).is_file():
        card = resolve_adapter(folder).card
        of_run = {name: value for name, value in card.metrics.items() if not name.startswith(VERIFIED)}
        found = RunResult(base_sha256=card.base.sha256, dataset=card.dataset, dev=of_run)
        return found.model_copy(update={"calibration": card.calibration, "note": card.note})
    file = folder.resolve().parent / "result.json"
    fix = "bring it back as the run wrote it, or take it away to go on without what it says"
    try:
        return RunResult.model_validate(json.loads(file.read_text("utf-8")))
    except FileNotFoundError:
        return RunResult()
    except pydantic.ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise UserError(f"{file}, {'.'.join(map(str, first['loc']))}: {first['msg']}", fix) from error
    except (OSError, ValueError) as error:
        raise UserError(f"{file} cannot be read: {error}", fix) from error


def check_trained_on(folder: Path, base: BaseModel) -> None:
    """Refuse any base but the one that the adapter's run names: on others of its shape it is noise that fits."""
    trained_on = result_beside(folder).base_sha256
    if trained_on not in (None, base.sha256):
        raise UserError(
            f"{folder} was trained on another base model\n"
            f"    trained on {trained_on}\n"
            f"    given      {base.sha256} ({base.name})",
            "give the base it was trained on with --base, or an adapter trained on this one",
        )


def mean_update(folders: Sequence[Path]) -> dict[str, tuple[Tensor, Tensor]]:
    """The mean of saved adapters' updates as factors (A, B) by the layer's name, for :func:`train.lora.begin`.

    Factors are laid side by side and not added: the mean of products is not the product of means.
    """
    found = [lora_updates(folder) for folder in folders]
    if any(other.keys() != found[0].keys() for other in found[1:]):
        raise UserError("these adapters change different layers", "average adapters of one base and one recipe")
    return {
        name.removesuffix(".weight"): (
            torch.cat([one[name][0] for one in found]),
            torch.cat([one[name][1] / len(found) for one in found], 1),
        )
        for name in found[0]
    }
