"""The baseline that must fail: a bag of words that knows nothing must not tell errors from correct pairs.

If it can, the templates, the answers or their length give the label away, and a judge trained on the dataset would
learn that instead of culture. Each view looks for one kind of leak.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from excam.dataset.balance import answer_key
from excam.dataset.lengths import length_step
from excam.dataset.table import read_columns
from excam.fault import UserError
from excam.report import Status

NEAR_RANDOM = 0.56
"""Accuracy on balanced twins up to which a view counts as random; 0.5 is chance."""
MOST_ROWS = 20_000
QA_SOURCES = ("blend", "culturalbench", "exams", "include")
FIX = "name the folder that `excam dataset build --out` wrote"
_WORD = re.compile(r"\w+")

Row = dict[str, Any]


def _instruction_and_output(row: Row) -> str:
    return f"{row['instruction']}\n{row['output']}"


def _output(row: Row) -> str:
    return str(row["output"])


def _length(row: Row) -> str:
    """Length alone: the right option is often the longest."""
    return f"characters{length_step(row['output'])}"


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
    """What one view reached on one source: accuracy on pairs it did not see, where chance is 0.5."""

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
    table = _cultural(path, ("source", "group", "instruction", "output", "label", "twin_id"))
    if source is not None:
        table = table.filter(pc.equal(table["source"], source))
    rows: list[Row] = table.sort_by("twin_id").slice(0, MOST_ROWS).to_pylist()
    return rows


def sources_of(path: Path) -> set[str]:
    """The sources that a split has cultural samples of."""
    return set(_cultural(path, ("source", "label"))["source"].unique().to_pylist())


def _cultural(path: Path, columns: Sequence[str]) -> pa.Table:
    if not path.is_file():
        raise UserError(f"there is no file {path}", FIX)
    table = read_columns(path, columns, FIX)
    return table.filter(pc.not_equal(table["label"], Status.NOT_APPLICABLE.value))


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
    """Every view on every source of a build: learnt on train and measured on test.

    What train alone has, as the atlas, is measured on a fifth of its questions, which the bag of words does not see.
    """
    tested = sources_of(folder / "test.parquet")
    found = []
    for source in sorted(tested | sources_of(folder / "train.parquet")):
        learn = read_pairs(folder / "train.parquet", source)
        if source in tested:
            measure = read_pairs(folder / "test.parquet", source)
        else:
            learn, measure = apart(learn)
        if learn and measure:
            found += [
                Leak(source, view, accuracy(learn, measure, VIEWS[view]), len(learn), len(measure)) for view in views
            ]
    return found


def apart(rows: Sequence[Row]) -> tuple[list[Row], list[Row]]:
    """Four fifths of the questions and the last fifth, with all their samples."""
    questions = sorted({row["group"] for row in rows})
    held = set(questions[::5])
    return [row for row in rows if row["group"] not in held], [row for row in rows if row["group"] in held]
