"""From settings to a judge: which weights it loads, whether the adapter is merged or served, and who it is."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path

from excam.calibration import Calibration
from excam.judge_card import JudgeCard
from excam.models import Adapter, BaseModel, bundled_adapter, merge, reference, resolve, resolve_adapter
from excam.models.folder import model_files
from excam.models.sources import Progress, quiet
from excam.prompt import PROMPT_SHA256
from serve.settings import JudgeSettings

REPORT_FORM = "errors-list/1"
GRAMMAR = 2  # an untuned judge writes every report under it, a tuned one hardly any: only there it counts
SECOND_LOOK = 1  # which passages count as speaking to the judge decides verdicts: raise it with excam.injection
UNCALIBRATED_THRESHOLD = 0.5
DEVICES = Path("/dev")
GPU_DEVICES = ("nvidia*", "nvhost*", "nvmap", "kfd", "dxg")  # NVIDIA's, its small boards', AMD's, Windows' for Linux
COPIED_FOR_A_GPU = 8 * 2**30  # bytes of weights; with more of them the GPU is the limit and not LoRA's bookkeeping


@dataclass(frozen=True)
class Judge:
    """A judge ready to be started: its card, its settings and the folders its engine loads.

    ``threshold`` is the one in force: the user's, else the adapter's own, else a half. ``calibration`` is none where
    the adapter brings none or raw probabilities were asked for.
    """

    card: JudgeCard
    settings: JudgeSettings
    threshold: float
    calibration: Calibration | None
    model_path: Path
    lora_path: Path | None = None
    lora_rank: int | None = None


def has_gpu() -> bool:
    """Whether judges of this machine run on a GPU; where Linux has no device of the kind, torch need not be loaded."""
    if sys.platform == "linux" and not any(any(DEVICES.glob(name)) for name in GPU_DEVICES):
        return False
    import torch

    return bool(torch.cuda.is_available())


def judge_card(settings: JudgeSettings, base: BaseModel, adapter: Adapter | None) -> JudgeCard:
    """The identity of a judge: everything that can change what it says of a text."""
    calibration = _calibration(settings, adapter)
    return JudgeCard(
        base=base.name,
        base_sha256=base.sha256,
        adapter=f"{adapter.name}@{adapter.version}" if adapter else None,
        adapter_sha256=adapter.sha256 if adapter else None,
        prompt_sha256=PROMPT_SHA256,
        decoding={
            "temperature": 0.0,
            "full": settings.full,
            "threshold": None if settings.full else _threshold(settings, calibration),
            **({"calibration": calibration.sha256} if calibration else {}),
            **({"second_look": SECOND_LOOK} if settings.second_look else {}),
            "max_prompt_tokens": settings.max_prompt_tokens,
            "max_report_tokens": settings.max_report_tokens,
            **({"opening": "free"} if adapter else {"opening": "forced", "grammar": GRAMMAR}),
            "report_form": REPORT_FORM,
        },
    )


def identify(settings: JudgeSettings, progress: Progress = quiet) -> JudgeCard:
    """Who the judge of these settings is, for those who do not run it: a small node without weights will do."""
    base = reference(settings.base, progress=progress)
    return judge_card(settings, base, _adapter(settings, base))


def card_for_driver(settings: JudgeSettings, progress: Progress = quiet) -> JudgeCard:
    """The judge's card for whoever starts it.

    On one machine the weights are made ready here, where a terminal can show how far that is. The driver of a cluster
    judges nothing: replicas find their weights on their own nodes, so it need not fetch, convert or merge any.
    """
    return identify(settings, progress) if os.environ.get("RAY_ADDRESS") else prepare(settings, progress).card


def prepare(settings: JudgeSettings, progress: Progress = quiet) -> Judge:
    """Find, check and if need be fetch and convert the weights; done again it finds everything in the cache."""
    base = resolve(settings.base, progress=progress)
    adapter = _adapter(settings, base)
    calibration = _calibration(settings, adapter)
    known = (judge_card(settings, base, adapter), settings, _threshold(settings, calibration), calibration)
    if adapter is None:
        return Judge(*known, base.path)
    if _merges(settings, base):
        return Judge(*known, merge(base, adapter, progress=progress))
    return Judge(*known, base.path, adapter.path, adapter.rank)


def _merges(settings: JudgeSettings, base: BaseModel) -> bool:
    """Whether the adapter goes into a copy of the weights: half as fast again on a GPU, thirty times on a CPU."""
    if settings.engine.merge != "auto":
        return settings.engine.merge
    return not has_gpu() or sum(file.stat().st_size for file in model_files(base.path)) <= COPIED_FOR_A_GPU


def _calibration(settings: JudgeSettings, adapter: Adapter | None) -> Calibration | None:
    return adapter.card.calibration if adapter and settings.calibration == "auto" else None


def _threshold(settings: JudgeSettings, calibration: Calibration | None) -> float:
    if settings.threshold != "auto":
        return settings.threshold
    return calibration.threshold if calibration else UNCALIBRATED_THRESHOLD


def _adapter(settings: JudgeSettings, base: BaseModel) -> Adapter | None:
    if settings.adapter == "none":
        return None
    if settings.adapter == "auto":
        return bundled_adapter(base)
    adapter = resolve_adapter(settings.adapter)
    adapter.check_base(base)
    return adapter
