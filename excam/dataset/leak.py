"""The baseline that must fail: a bag of words that knows nothing must not tell errors from correct pairs.

If it can, the templates, the answers or their length give the label away, and a judge trained on the dataset would
learn that instead of culture. Each view looks for one kind of leak.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.compute as pc

from excam.dataset.balance import answer_key
from excam.dataset.table import read_columns
from excam.fault import UserError
from excam.report import Status

NEAR_RANDOM = 0.56
"""Accuracy on balanced twins up to which a view counts as random; 0.5 is chance."""
MOST_ROWS = 20_000
QA_SOURCES = ("blend", "culturalbench", "exams", "include")
_WORD = re.compile(r"\w+")

Row = dict[str, Any]


def _instruction_and_output(row: Row) -> str:
    return f"{row['instruction']}\n{row['output']}"


def _output(row: Row) -> str:
    return str(row["output"])


def _length(row: Row) -> str:
    """Length alone, in steps of about a tenth: the right option is often the longest."""
    return f"characters{round(8 * math.log(1 + len(row['output'])))}"


def _crossed(row: Row) -> str:
    """Every word of the instruction crossed with the answer's last word: finds questions that tell their answer."""
    words = answer_key(row["output"]).split()
    answer = words[-1] if words else ""
    return " ".join(f"{answer}_{word}" for word in sorted(set(_WORD.findall(row["instruction"].casefold()))))


VIEWS: dict[str, Callable[[Row], str]] = {
    "instruction + output": _instruction_and_output,
    "output": _output,
    "length": _length,
    "answer × instruction": _crossed,
}


@dataclass(frozen=True)
class Leak:
    """What one view reached on one source: accuracy on test, where chance is 0.5."""

    source: str
    view: str
    accuracy: float
    train: int
    test: int

    @property
    def near_random(self) -> bool:
        return self.accuracy <= NEAR_RANDOM


def read_pairs(path: Path, source: str | None = None) -> list[Row]:
    """The cultural samples of a split, at most as many as the check needs, twins kept together."""
    fix = "name the folder that `excam dataset build --out` wrote"
    if not path.is_file():
        raise UserError(f"there is no file {path}", fix)
    table = read_columns(path, ("source", "instruction", "output", "label", "twin_id"), fix)
    keep = pc.not_equal(table["label"], Status.NOT_APPLICABLE.value)
    if source is not None:
        keep = pc.and_(keep, pc.equal(table["source"], source))
    rows: list[Row] = table.filter(keep).sort_by("twin_id").slice(0, MOST_ROWS).to_pylist()
    return rows


def accuracy(train: Sequence[Row], test: Sequence[Row], view: Callable[[Row], str]) -> float:
    """The accuracy of a logistic regression on the words of one view, trained on train and measured on test."""
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression

    vectorizer = CountVectorizer(token_pattern=r"(?u)\w+", binary=True, min_df=2, max_features=200_000)
    try:
        seen = vectorizer.fit_transform(view(row) for row in train)
    except ValueError:
        return 0.5
    model = LogisticRegression(C=0.3, solver="liblinear", max_iter=200)
    model.fit(seen, [row["label"] == Status.ERROR for row in train])
    found = model.predict(vectorizer.transform(view(row) for row in test))
    return float(
        sum(guess == (row["label"] == Status.ERROR) for guess, row in zip(found, test, strict=True)) / len(test)
    )


def check(folder: Path, views: Sequence[str] = tuple(VIEWS)) -> list[Leak]:
    """Every view on every source of a build that has both a train and a test part, and on all sources together."""
    test = read_pairs(folder / "test.parquet")
    found = []
    for source in sorted({row["source"] for row in test}):
        learn, measure = (read_pairs(folder / f"{split}.parquet", source) for split in ("train", "test"))
        if learn and measure:
            found += [
                Leak(source, view, accuracy(learn, measure, VIEWS[view]), len(learn), len(measure)) for view in views
            ]
    return found
