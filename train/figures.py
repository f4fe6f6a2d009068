"""Figures of the decision: the paper's scaled accuracy, by source, with false alarms and the ranking behind it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from excam.fault import UserError
from excam.models.digest import file_sha256
from train.examples import CORRECT, ERROR, NOT_APPLICABLE, Examples


@dataclass(frozen=True)
class Decisions:
    """What a judge decided: examples by index, for each the log-odds of its three decisions.

    ``dataset`` is the hash of the file they stand in, ``adapter`` that of the weights that decided; empty if not known.
    """

    index: NDArray[np.int64]
    logits: NDArray[np.float32]
    dataset: str = ""
    adapter: str = ""

    @property
    def probabilities(self) -> NDArray[np.float64]:
        shifted = np.exp(self.logits.astype(np.float64) - self.logits.max(1, keepdims=True))
        return np.asarray(shifted / shifted.sum(1, keepdims=True))

    def require_of(self, split: Path) -> None:
        """A fault where another file was decided than this one: an index would find another pair."""
        if self.dataset and self.dataset != file_sha256(split):
            raise UserError(f"these are decisions on other data than {split}", "give the data they were made on")

    def require_finite(self) -> None:
        """A fault where a decision is no number: what is computed from it would look like a judge at chance."""
        broken = int((~np.isfinite(self.logits)).any(1).sum())
        if broken:
            raise UserError(
                f"the decisions on {broken} of {len(self.index)} pairs are no numbers: the adapter's training diverged",
                "train it anew with a lower learning_rate",
            )

    def save(self, path: Path) -> None:
        np.savez_compressed(path, index=self.index, logits=self.logits, dataset=self.dataset, adapter=self.adapter)

    @classmethod
    def load(cls, path: Path) -> Decisions:
        with np.load(path, allow_pickle=False) as stored:
            named = {name: str(stored[name]) for name in ("dataset", "adapter") if name in stored}
            return cls(stored["index"], stored["logits"], **named)


def scaled_accuracy(says_error: NDArray[np.bool_], is_error: NDArray[np.bool_]) -> float:
    """2·accuracy - 1 with both classes counted alike, so that 0 is chance whatever their shares are."""
    if not is_error.any() or is_error.all():
        return float("nan")
    return float(says_error[is_error].mean() + (~says_error[~is_error]).mean() - 1)


def auc(score: NDArray[np.float64], positive: NDArray[np.bool_]) -> float:
    """The chance that an error scores above a pair without one, ties counted half."""
    count, others = int(positive.sum()), int((~positive).sum())
    if not count or not others:
        return float("nan")
    _, place, sizes = np.unique(score, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(sizes) - (sizes - 1) / 2)[place]
    return float((ranks[positive].sum() - count * (count + 1) / 2) / (count * others))


def figures(decided: Decisions, examples: Examples) -> dict[str, float]:
    """Every figure by name; ``scaled_accuracy`` is over hard errors and their twins, every source counted alike.

    Where a decision is no number, no figure is one.
    """
    label, index = examples.label[decided.index], decided.index
    probability = decided.probabilities
    choice = probability.argmax(1)
    says, cultural = choice == ERROR, label != NOT_APPLICABLE
    hard = cultural & examples.hard[index]
    source = examples.source[index]
    each = [
        scaled_accuracy(says[here], label[here] == ERROR)
        for here in (hard & (source == one) for one in np.unique(source[hard]))
    ]
    found = {
        "scaled_accuracy": float(np.nanmean(each)) if np.isfinite(each).any() else float("nan"),
        "scaled_accuracy_pooled": scaled_accuracy(says[hard], label[hard] == ERROR),
        "scaled_accuracy_all": scaled_accuracy(says[cultural], label[cultural] == ERROR),
        "auc": auc(probability[cultural, ERROR], label[cultural] == ERROR),
        "twins_in_order": _in_order(decided, examples),
        "false_alarms": float(says[~cultural].mean()) if (~cultural).any() else float("nan"),
        "missed_as_ordinary": float((choice[cultural] == NOT_APPLICABLE).mean()) if cultural.any() else float("nan"),
        "error_rate_said": float(says[cultural].mean()) if cultural.any() else float("nan"),
    }
    for number, name in enumerate(examples.sources):
        here = cultural & (source == number)
        if here.any():
            found[f"scaled_accuracy.{name}"] = scaled_accuracy(says[here], label[here] == ERROR)
    return found if np.isfinite(decided.logits).all() else dict.fromkeys(found, float("nan"))


def _in_order(decided: Decisions, examples: Examples) -> float:
    """The share of twins whose wrong version looks more like an error than its right one."""
    margin = np.full(len(examples), np.nan)
    margin[decided.index] = decided.logits[:, ERROR] - decided.logits[:, CORRECT]
    wrong = decided.index[(examples.label[decided.index] == ERROR) & (examples.twin[decided.index] >= 0)]
    apart = margin[wrong] - margin[examples.twin[wrong]]
    apart = apart[~np.isnan(apart)]
    return float((apart > 0).mean()) if len(apart) else float("nan")
