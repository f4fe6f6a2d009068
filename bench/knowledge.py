"""What does a base know before a judge is made of it, and what does the judge know after?

Twins differ in their answer alone: one is right, one is wrong. Counted are the twins whose right answer the model finds
likelier than the wrong one, as text it would write itself (the whole of it, and a token on average), and those whose
wrong version its decision calls the likelier error. Telling twins apart is easier than judging each alone: twice this
share less one is what a scaled accuracy would be if a judge saw both and knew that exactly one of them is wrong.

    python -m train.tokenise DATA/dev.parquet dev.npz --model FOLDER
    python -m bench.knowledge --tokens dev.npz --model FOLDER --adapter FOLDER --limit 400
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from train import adapter, lora, model
from train.batches import in_order, pack
from train.decide import sample
from train.examples import CORRECT, ERROR, Examples
from train.recipe import Recipe
from train.step import OnDevice, answer_likelihood, decision_logits, hidden_states

BATCH_TOKENS = 4_096
HEAD = f"{'source':<18}{'twins':>7}{'as text':>9}{'a token':>9}{'decision':>10}"


@torch.no_grad()
def look(network: torch.nn.Module, examples: Examples, chosen: list[int], device: torch.device) -> NDArray[np.float64]:
    """For each example, by index: log-likelihood of its answer, the same a token, log-odds of an error."""
    found = np.full((len(examples), 3), np.nan)
    decisions = torch.tensor(examples.decisions, device=device)
    for turns in in_order(examples, chosen, BATCH_TOKENS):
        batch = OnDevice.of(pack(examples, turns, BATCH_TOKENS), device)
        states = hidden_states(network, batch)
        likely, tokens = answer_likelihood(network, states, batch)
        logits = decision_logits(network, states, batch, decisions)
        odds = logits[:, ERROR] - logits[:, CORRECT]
        rows = torch.stack([likely, likely / tokens.clamp_min(1), odds], 1)
        found[[turn.index for turn in turns]] = rows.cpu().numpy()
    return found


def shares(found: NDArray[np.float64], examples: Examples, chosen: list[int]) -> dict[str, list[float]]:
    """By source: how many twins, and the share in order by each of the three."""
    asked = np.array(chosen)
    wrong = asked[(examples.label[asked] == ERROR) & (examples.twin[asked] >= 0)]
    right = examples.twin[wrong]
    ordered = np.stack([*(found[right, :2] > found[wrong, :2]).T, found[wrong, 2] > found[right, 2]], 1)
    sources = examples.source[wrong]
    return {
        examples.sources[number]: [int((sources == number).sum()), *ordered[sources == number].mean(0).tolist()]
        for number in np.unique(sources)
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokens", type=Path, required=True, help="examples, from train.tokenise")
    parser.add_argument("--model", type=Path, required=True, help="folder of the base model")
    parser.add_argument("--adapter", type=Path, help="folder of an adapter; without one the base itself is asked")
    parser.add_argument("--limit", type=int, default=2**62, help="ask about so many examples")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    asked = parser.parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    examples = Examples.load(asked.tokens)
    network = model.load(asked.model, Recipe(compile=False), device)
    if asked.adapter:
        lora.begin(network, adapter.mean_update([asked.adapter]))
    chosen = sample(examples, asked.limit)
    table = shares(look(network.eval(), examples, chosen, device), examples, chosen)
    print(HEAD)
    for source, (twins, *rest) in table.items():
        print(f"{source:<18}{twins:>7.0f}{rest[0]:>9.3f}{rest[1]:>9.3f}{rest[2]:>10.3f}")
    if asked.json:
        asked.json.write_text(json.dumps(table, indent=1))


if __name__ == "__main__":
    main()
