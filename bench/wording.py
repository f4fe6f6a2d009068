"""Does a judge know a fact, or the words it learned it in?

``bench/wordings`` puts facts of the atlas in words that no training data has: each line holds a question with a
right and a wrong answer as the atlas has them, and then all three in other words. A judge that learned from the atlas
decides on both, and on the first question with the second answers: AUC, and the share of twins in order.

    python -m bench.wording --model FOLDER --adapter FOLDER
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch

from excam.dataset.atlas.lines import read_lines
from excam.models import load_tokenizer
from excam.report import CORRECT_REPORT
from train import adapter, lora, model
from train.decide import decide
from train.examples import CORRECT, ERROR, Encoder, Examples, assemble
from train.recipe import Recipe

FACTS = Path(__file__).with_name("wordings")
WORDINGS = ("as the atlas has it", "its question, other words of the answers", "in other words")
BATCH_TOKENS = 2_048


def rows() -> Iterator[dict[str, Any]]:
    """Each fact as three pairs of twins, one a wording."""
    wrong_report = '{"errors": [{"severity": "major"}]}'
    for number, line in enumerate(read_lines(FACTS, 7)):
        _, question, right, wrong, other_question, other_right, other_wrong = line.fields
        put = (
            (question, right, wrong),
            (question, other_right, other_wrong),
            (other_question, other_right, other_wrong),
        )
        for wording, (asked, good, bad) in zip(WORDINGS, put, strict=True):
            for label, output, report in (("correct", good, CORRECT_REPORT.render()), ("error", bad, wrong_report)):
                yield {
                    "sample_id": f"{number} {wording} {label}",
                    "twin_id": f"{number} {wording}",
                    "source": wording,
                    "group": str(number),
                    "instruction": asked,
                    "output": output,
                    "label": label,
                    "report": report,
                    "origin": "hard" if label == "error" else "none",
                    "weight": 1.0,
                }


def examples_of(folder: Path) -> Examples:
    """All of them as token ids for the base in this folder."""
    encoder = Encoder(load_tokenizer(folder), max_prompt_tokens=1024, max_report_tokens=64)
    asked = list(rows())
    return assemble(asked, map(encoder, asked), encoder)


def ranked(margin: Any, examples: Examples, wording: str) -> tuple[int, float, float]:
    """Of one wording: how many pairs, the chance that a wrong one has the higher odds of an error, and of its twin."""
    chosen = examples.source == examples.sources.index(wording)
    wrong = np.flatnonzero(chosen & (examples.label == ERROR))
    right = np.flatnonzero(chosen & (examples.label == CORRECT))
    apart = margin[wrong][:, None] - margin[right][None]
    auc = ((apart > 0) + 0.5 * (apart == 0)).mean()
    return int(chosen.sum()), float(auc), float((margin[wrong] > margin[examples.twin[wrong]]).mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, required=True, help="folder of the base model")
    parser.add_argument("--adapter", type=Path, required=True, help="folder of an adapter that learned from the atlas")
    asked = parser.parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    examples = examples_of(asked.model)
    network = model.load(asked.model, Recipe(compile=False), device)
    lora.begin(network, adapter.mean_update([asked.adapter]))
    found = decide(network, examples, range(len(examples)), BATCH_TOKENS, device)
    margin = np.zeros(len(examples))
    margin[found.index] = found.logits[:, ERROR] - found.logits[:, CORRECT]
    print(f"{'put':<42}{'pairs':>6}{'AUC':>8}{'twins in order':>16}")
    for wording in WORDINGS:
        pairs, auc, order = ranked(margin, examples, wording)
        print(f"{wording:<42}{pairs:>6}{auc:>8.3f}{order:>16.3f}")


if __name__ == "__main__":
    main()
