"""What a finished run leaves: the adapter to ship, its figures on dev, and how well it writes reports."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from excam.fault import UserError
from excam.models.adapter_card import WEIGHTS
from excam.models.digest import file_sha256
from train import adapter, lora
from train.decide import decide, sample, write_reports
from train.examples import Examples
from train.figures import Decisions, figures
from train.loop import Trainer


def finish(
    trainer: Trainer,
    *,
    base: str,
    base_sha256: str | None = None,
    test: Examples | None = None,
    tokenizer: Any = None,
    reports: int = 0,
) -> dict[str, Any]:
    """Save the adapter, measure it on dev, decide test once for the record, and write ``result.json`` as it goes.

    An adapter that learnt nothing, or whose decisions are no numbers, is no result: that is a fault.

    On a GPU all of dev is asked, on a CPU the sample that was watched, since there the whole would take longer than
    the training. Figures are those of the rank that ships; where it is cut only now, those before the cut stand beside.
    """
    recipe, dev, run = trainer.recipe, trainer.dev_set, trainer.run
    if trainer.place.step and trainer.place.skipped == trainer.place.step:
        raise UserError(
            f"none of {trainer.place.step} steps had a finite gradient: nothing was learnt",
            "look for weights that are not positive numbers in the data, or lower learning_rate",
        )
    rank = min(recipe.ship_rank or recipe.rank, recipe.rank)
    result: dict[str, Any] = {
        "base": base,
        **({"base_sha256": base_sha256} if base_sha256 else {}),
        "recipe": recipe.model_dump(),
        "dataset": trainer.train_set.dataset,
        "without": run.without,
        "share": run.share,
        "begin": run.begin,
        "place": vars(trainer.place),
        "workers": run.world,
        "bytes": adapter.save(trainer.model, run.out / "adapter", base=base, rank=rank),
    }
    _write(run.out / "result.json", result)
    watched = range(len(dev)) if trainer.device.type == "cuda" else sample(dev, run.dev_sample)
    result["dev_pairs"] = len(watched)
    weights = file_sha256(run.out / "adapter" / WEIGHTS)

    def decided(examples: Examples, asked: Sequence[int]) -> Decisions:
        return decide(trainer.model, examples, asked, recipe.batch_tokens, trainer.device)

    if rank < recipe.rank and not trainer.place.shrunk:
        result["dev_full_rank"] = figures(decided(dev, watched), dev)
        lora.shrink(trainer.model, rank)
    for name, examples, asked in [("dev", dev, watched)] + ([("test", test, range(len(test)))] if test else []):
        found = replace(decided(examples, asked), adapter=weights)
        found.require_finite()
        found.save(run.out / f"{name}-decisions.npz")
        result[name] = figures(found, examples)
        _write(run.out / "result.json", result)
    if reports and tokenizer is not None:
        written = write_reports(trainer.model, dev, tokenizer, reports, trainer.device)
        _write(run.out / "reports.json", written.pop("samples"))
        result["reports"] = written
    _write(run.out / "result.json", result)
    return result


def _write(path: Path, facts: Any) -> None:
    path.write_text(json.dumps(facts, ensure_ascii=False, indent=1), "utf-8")
