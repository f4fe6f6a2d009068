"""Train the gate: a weighted logistic regression over hashed features, one byte a weight, and a careful threshold."""

from __future__ import annotations

import hashlib
import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from excam.fault import UserError
from excam.relevance.features import BATCH, BUCKETS, features
from excam.relevance.model import Gate
from excam.relevance.texts import Example, from_names, from_words, read_split

Floats = npt.NDArray[np.float64]

REGULARISATION = 10.0
FEWEST_TEXTS = 2  # a feature of one text is noise
FEWEST_OF_A_LANGUAGE = 100
RARE = 1e-3
KEPT_WEIGHTS = 200_000
FOLDS = 4
STOP = 0.80


def matrix(learnt: Sequence[Example]) -> Any:
    """One row an example, one column a bucket: how often it occurs, divided by the root of the number of features."""
    from scipy.sparse import csr_array, vstack

    parts = []
    for start in range(0, len(learnt), BATCH):
        found = features([example.pair for example in learnt[start : start + BATCH]])
        values = (1 / found.norms())[found.rows].astype(np.float32)
        places = found.rows.astype(np.int32), found.buckets.astype(np.int32)
        parts.append(csr_array((values, places), shape=(found.pairs, BUCKETS)))
    return vstack(parts, format="csr")


def example_weights(learnt: Sequence[Example]) -> Floats:
    """Even out kinds, languages and sources: half of the weight to each kind; in a kind, to each language the root of
    its size; in a language, the same to each source. Without this the gate learns which language means which kind."""
    size = Counter(example.language for example in learnt)
    of_source = Counter((example.language, example.cultural, example.source) for example in learnt)
    sources = Counter((language, cultural) for language, cultural, _ in of_source)
    raw = np.array(
        [
            np.sqrt(size[example.language])
            / sources[example.language, example.cultural]
            / of_source[example.language, example.cultural, example.source]
            for example in learnt
        ]
    )
    cultural = np.array([example.cultural for example in learnt])
    for kind in (cultural, ~cultural):
        raw[kind] *= len(learnt) / 2 / raw[kind].sum()
    return raw


def rarity(columns: Any, learnt: Sequence[Example]) -> Floats:
    """How much to trust each feature, 0 to 1: little if it is frequent in any one language, as function words and the
    wording of templates are."""
    present = columns.astype(bool)
    frequency: Floats = np.asarray(present.sum(axis=0)).ravel() / len(learnt)
    languages = np.array([example.language for example in learnt])
    for language, count in Counter(languages.tolist()).items():
        if count >= FEWEST_OF_A_LANGUAGE:
            of_language = np.asarray(present[languages == language].sum(axis=0)).ravel()
            frequency = np.maximum(frequency, of_language / count)
    trust: Floats = np.clip(np.log(np.maximum(frequency, 1e-9)) / np.log(RARE), 0.0, 1.0)
    return trust


def fit(learnt: Sequence[Example], note: dict[str, Any] | None = None) -> Gate:
    """The gate these examples teach, with everything passing until a threshold is chosen."""
    from scipy.sparse import diags_array
    from sklearn.linear_model import LogisticRegression

    cultural = np.array([example.cultural for example in learnt])
    if cultural.all() or not cultural.any():
        raise UserError("the gate needs both cultural and ordinary pairs to learn from", "check the label column")
    every = matrix(learnt)
    kept = np.flatnonzero(np.bincount(every.indices, minlength=BUCKETS) >= FEWEST_TEXTS)
    columns = every[:, kept]
    trust = rarity(columns, learnt)
    scaled = (columns @ diags_array(trust.astype(np.float32))).tocsr()
    regression = LogisticRegression(C=REGULARISATION, solver="liblinear", tol=1e-3)
    regression.fit(scaled, cultural, sample_weight=example_weights(learnt))
    small, scale = quantised(regression.coef_[0] * trust)
    weights = np.zeros(BUCKETS, np.int8)
    weights[kept] = small
    return Gate(weights, scale, float(regression.intercept_[0]), threshold=0.0, note=note or {}, version="")


def quantised(weights: Floats) -> tuple[npt.NDArray[np.int8], float]:
    """One byte a weight, and only the strongest: the others become zero, so that unknown words meet no noise.

    Takes the weights of the features that were learnt; of all buckets these are few, and sorting four million takes
    longer than learning does.
    """
    sizes = np.abs(weights)
    least = np.partition(sizes, -KEPT_WEIGHTS)[-KEPT_WEIGHTS] if len(sizes) >= KEPT_WEIGHTS else 0.0
    strong = np.where(sizes >= max(least, 1e-12), weights, 0.0)
    scale = float(np.quantile(np.abs(strong[strong != 0]), 0.999)) / 127
    return np.clip(np.round(strong / scale), -127, 127).astype(np.int8), scale


def unseen_scores(learnt: Sequence[Example]) -> Floats:
    """Scores of the dataset's ordinary examples, each by a gate that was trained without that example's group."""
    if all(example.cultural for example in learnt if example.group):
        raise UserError(
            "the train split has no ordinary pair to choose the gate's threshold by",
            "build the dataset with a source of ordinary pairs, such as assistant",
        )
    folds = np.array([zlib.crc32(example.group.encode()) % FOLDS if example.group else -1 for example in learnt])
    parts = []
    for fold in range(FOLDS):
        gate = fit([example for example, own in zip(learnt, folds, strict=True) if own != fold])
        held = [example for example, own in zip(learnt, folds, strict=True) if own == fold and not example.cultural]
        parts.append(gate.scores(example.pair for example in held))
    return np.concatenate(parts)


def with_threshold(gate: Gate, ordinary: Floats, stop: float = STOP) -> Gate:
    """As careful as allowed: the threshold that stops just the share ``stop`` of ordinary scores, so that all the rest
    of the gate's strength goes into letting cultural pairs pass; never above what a text of unknown words scores."""
    chosen = min(float(np.quantile(ordinary, stop)), gate.bias)
    return replace(gate, threshold=float(1 / (1 + np.exp(-chosen))))


def examples(data: Path, seed: int) -> list[Example]:
    """Everything a gate learns from: the train split, the texts made of words and those made of names."""
    return [*read_split(data / "train.parquet"), *from_words(seed), *from_names(seed)]


def train(data: Path, seed: int = 0, stop: float = STOP) -> Gate:
    """A gate from the train split of ExCAM40k in ``data``; its threshold comes from pairs held out in turn."""
    learnt = examples(data, seed)
    digest = hashlib.sha256((data / "train.parquet").read_bytes()).hexdigest()
    note = {"examples": len(learnt), "seed": seed, "stop": stop, "train_sha256": digest}
    ordinary = unseen_scores(learnt)
    return with_threshold(fit(learnt, note), ordinary, stop)
