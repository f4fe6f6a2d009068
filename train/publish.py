"""Publish an adapter: prove that it decides when served as it did when trained, give it a card, and seal it."""

from __future__ import annotations

import asyncio
import math
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from excam.calibration import Calibration
from excam.fault import UserError
from excam.models import Adapter, BaseModel, write_card
from excam.models.adapter_card import CONFIG, WEIGHTS, read_config, require_files
from excam.models.cache import draft_in
from excam.models.merge import lora_updates
from excam.models.pull import settle
from excam.report import Status
from train.adapter import VERIFIED, check_trained_on, mean_update, result_beside
from train.split import read_rows

ENOUGH_THE_SAME = 0.98
STATUSES = (Status.CORRECT, Status.ERROR, Status.NOT_APPLICABLE)  # in the order of train.examples.LABELS
Row = Mapping[str, Any]


@dataclass(frozen=True)
class Agreement:
    """Decisions on the same pairs by the training code and by the judge as it is served."""

    names: tuple[str, ...]
    trained: np.ndarray[Any, np.dtype[np.float64]]
    served: np.ndarray[Any, np.dtype[np.float64]]

    @property
    def same(self) -> float:
        return float((self.trained.argmax(1) == self.served.argmax(1)).mean())

    @property
    def apart(self) -> float:
        """The mean difference of P(error)."""
        return float(np.abs(self.trained[:, 1] - self.served[:, 1]).mean())

    def require(self) -> None:
        """A fault where they decide too many pairs differently."""
        if self.same < ENOUGH_THE_SAME:
            few = "\n    ".join(self.differences()[:10])
            raise UserError(
                f"served, it decides only {self.same:.0%} of {len(self.names)} pairs as in training\n    {few}",
                "check that the adapter was trained on this base, prompt and version of the code",
            )

    def differences(self) -> list[str]:
        """A line for every pair that was decided otherwise."""
        rows = np.flatnonzero(self.trained.argmax(1) != self.served.argmax(1))
        return [f"{self.names[row]}: {_told(self.trained[row])}, served {_told(self.served[row])}" for row in rows]


def _told(probability: np.ndarray[Any, np.dtype[np.float64]]) -> str:
    return f"{STATUSES[int(probability.argmax())].value} (P(error) {probability[1]:.3f})"


def publish(
    folder: Path,
    *,
    name: str,
    version: str,
    home: Path,
    base: BaseModel,
    rows: Sequence[Row] = (),
    calibration: Calibration | None = None,
    note: str | None = None,
) -> tuple[Adapter, Agreement | None]:
    """Copy the adapter's files, verify the copy on ``rows``, write its card with the figures, move it into place.

    One that has a card already takes along what that says, but for what is given anew.
    """
    require_files(folder)
    if (home / name / version).exists():
        raise UserError(
            f"{home / name / version} exists: a published adapter never changes", "choose a higher --version"
        )
    check_trained_on(folder, base)
    lora_updates(folder)  # what cannot be read back is not sealed
    facts = result_beside(folder)
    metrics = {key: value for key, value in facts.dev.items() if math.isfinite(value)}
    with draft_in(home, "publishing") as draft:
        for file in (CONFIG, WEIGHTS):
            shutil.copyfile(folder / file, draft / file)
        agreement = None
        if rows:
            trial = shutil.copytree(draft, draft / "trial")
            write_card(trial, name=name, version=version, base=base, dataset="trial")
            agreement = verify(trial, base, rows)
            shutil.rmtree(trial)
            metrics |= {f"{VERIFIED}pairs": len(rows), f"{VERIFIED}same": round(agreement.same, 4)}
        dataset = facts.dataset or "not stated"
        known: dict[str, Any] = {"calibration": calibration or facts.calibration, "note": note or facts.note}
        known["metrics"] = metrics
        write_card(draft, name=name, version=version, base=base, dataset=dataset, **known)
        return settle(draft, home), agreement


def verify(folder: Path, base: BaseModel, rows: Sequence[Row]) -> Agreement:
    """Ask both about the rows; a fault where fewer than 98 % of the decisions are the same."""
    trained = trained_decisions(folder, base, rows)
    served = served_decisions(folder, base, rows)
    found = Agreement(tuple(str(row["sample_id"]) for row in rows), trained, served)
    found.require()
    return found


def trained_decisions(folder: Path, base: BaseModel, rows: Sequence[Row]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """P(correct), P(error), P(not applicable) of each row by the training code: one packed forward pass."""
    import torch

    from excam.models import load_tokenizer
    from serve.settings import JudgeSettings
    from train import lora, model
    from train.decide import decide
    from train.examples import Encoder, assemble
    from train.recipe import Recipe

    encoder = Encoder(load_tokenizer(base.path), JudgeSettings.load().max_prompt_tokens, 256)
    examples = assemble(rows, map(encoder, rows), encoder)
    update, rank = mean_update([folder]), read_config(folder)["r"]
    layers = tuple(sorted({name.rpartition(".")[2] for name in update}))
    recipe = Recipe(rank=rank, alpha=rank, layers=layers, compile=False)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    network = model.load(base.path, recipe, device)
    lora.begin(network, update)
    longest = int(examples.lengths.max())
    found = decide(network, examples, range(len(examples)), max(2048, longest), device)
    found.require_finite()
    probabilities = np.empty((len(examples), 3))
    probabilities[found.index] = found.probabilities
    return probabilities


def served_decisions(folder: Path, base: BaseModel, rows: Sequence[Row]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """The same of the judge that serves this adapter: vLLM, merged unless the base is large, decoding freely."""
    from excam.models.registry import known
    from excam.score import decision_probabilities
    from serve.engine_arguments import run_with_engine
    from serve.identity import prepare
    from serve.settings import JudgeSettings

    named = base.name if base.name in known() else str(base.path)
    settings = JudgeSettings.load(base=named, adapter=str(folder))
    judge = prepare(settings)

    async def ask() -> list[list[float]]:
        from serve.engine import JudgeEngine

        engine = JudgeEngine(judge)
        try:
            prompts = [engine.render(row["instruction"], row["output"]) for row in rows]
            decided = await asyncio.gather(*map(engine.decide, prompts))
        finally:
            engine.shutdown()
        probabilities = [decision_probabilities(decision.by_status) for decision in decided]
        return [[each[status] for status in STATUSES] for each in probabilities]

    return np.array(run_with_engine(settings, ask))


def rows_to_verify(split: Path, count: int) -> list[Row]:
    """Pairs of a split, drawn by a fixed seed, twins together as far as the number goes."""
    together: dict[str, list[Row]] = {}
    for row in read_rows(split):
        together.setdefault(row["twin_id"] or row["sample_id"], []).append(row)
    groups = list(together.values())
    return [row for one in np.random.default_rng(0).permutation(len(groups)) for row in groups[one]][:count]
