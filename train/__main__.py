"""``python -m train``: train an adapter on a file of tokens, with nothing but torch and transformers around."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import torch

from excam.fault import UserError
from train import adapter, checkpoint, lora, model
from train.examples import Examples
from train.finish import finish
from train.loop import Run, Trainer
from train.recipe import Recipe, read_changes
from train.selection import select
from train.terms import Disk, hold_to, terms_of


def main() -> None:
    """Read the options, train, evaluate on the whole dev set, save the adapter and ``result.json``.

    A run that the folder holds goes on, if it began with the same data and recipe.
    """
    options = argparse.ArgumentParser(prog="python -m train", description=__doc__)
    options.add_argument("--tokens", type=Path, required=True, help="training examples, from train.tokenise")
    options.add_argument("--dev", type=Path, required=True, help="dev examples, from train.tokenise")
    options.add_argument("--test", type=Path, help="test examples: decided once, at the end, for the record")
    options.add_argument("--model", type=Path, required=True, help="folder of the base model")
    options.add_argument("--base", help="name of the base model, for the adapter's configuration")
    options.add_argument("--out", type=Path, required=True)
    options.add_argument("--recipe", default="qwen2.5-coder-0.5b")
    options.add_argument("--set", action="append", default=[], metavar="FIELD=VALUE", help="change the recipe")
    options.add_argument("--without", action="append", default=[], metavar="SOURCE", help="leave it out of training")
    options.add_argument("--share", type=float, default=1.0, help="of the questions to train on")
    options.add_argument("--from", dest="begin", action="append", default=[], type=Path, help="adapters; their mean")
    options.add_argument("--minutes", type=float, help="end then, with the learning rate fitted to it")
    options.add_argument("--steps", type=int, help="at most so many steps; 0 measures the adapters of --from")
    options.add_argument("--say-every", type=int, default=20)
    options.add_argument("--figures-every", type=float, default=0.2, help="share of the run between dev figures")
    options.add_argument("--dev-sample", type=int, default=2000)
    options.add_argument("--reports", type=int, default=200, help="reports to write at the end")
    options.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    asked = options.parse_args()
    try:
        train_and_save(asked, Recipe.load(asked.recipe, **read_changes(asked.set)))
    except UserError as fault:
        sys.exit(str(fault))


def train_and_save(asked: argparse.Namespace, recipe: Recipe) -> None:
    """The run behind the command."""
    device = torch.device(asked.device)
    torch.manual_seed(recipe.seed)
    torch.set_float32_matmul_precision("high")
    train, dev = Examples.load(asked.tokens), Examples.load(asked.dev)
    train = select(train, asked.without, asked.share, recipe.source_weight)
    network = model.load(asked.model, recipe, device)
    if asked.begin:
        lora.begin(network, adapter.mean_update(asked.begin), recipe.begin_share)
    run = Run(
        asked.out,
        asked.minutes,
        asked.steps,
        say_every=asked.say_every,
        figures_every=asked.figures_every,
        dev_sample=asked.dev_sample,
        without=tuple(asked.without),
        share=asked.share,
        begin=tuple(str(folder) for folder in asked.begin),
    )
    base = asked.base or asked.model.name
    hold_to(terms_of(recipe, run, train, base, 1), Disk(asked.out), begun=(asked.out / checkpoint.FILE).is_file())
    trainer = Trainer(network, train, dev, recipe, run)
    trainer.train()
    test = Examples.load(asked.test) if asked.test else None
    tokenizer = None
    if asked.reports:
        from excam.models import load_tokenizer

        tokenizer = load_tokenizer(asked.model)
    result = finish(trainer, base=base, test=test, tokenizer=tokenizer, reports=asked.reports)
    print(json.dumps(result | {"done": True}), flush=True)


if __name__ == "__main__":
    main()
